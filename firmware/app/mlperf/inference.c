#include "inference.h"

#include <string.h>

#include "mlperf_config.h"
#include "numbers.h"
#include "text.h"

static const edgec_model_t *model;
static edgec_context_t context;
static mlperf_code_t codes[MLPERF_INPUT_ELEMENTS]; /* a run uses up its own copy of them */

bool inference_begin(const edgec_model_t *served, uint8_t *arena, uint32_t arena_bytes) {
    model = served;
    if (model->init(&context, arena, arena_bytes) != EDGEC_OK) {
        text_put("e-[The model refuses the arena]");
        text_end_line();
        return false;
    }
    return true;
}

/* Output `index` of the last run as a real number. */
static double output_value(uint32_t index) {
    const edgec_tensor_t *output = &model->outputs[0];
    const uint8_t *start = context.arena + output->offset;
    int32_t code = 0;
    if (output->dtype == EDGEC_INT8) {
        code = ((const int8_t *)start)[index];
    } else {
        int16_t wide;
        memcpy(&wide, start + 2U * index, sizeof wide);
        code = wide;
    }
    return (double)(code - output->zero_point) * MLPERF_OUTPUT_SCALE;
}

#if MLPERF_ANOMALY

static float float_at(const uint8_t *bytes, uint32_t index) {
    float value;
    memcpy(&value, bytes + 4U * index, sizeof value);
    return value;
}

void inference_load(const uint8_t *bytes) {
    for (uint32_t i = 0; i < MLPERF_INPUT_ELEMENTS; i++) {
        const uint32_t feature = i % MLPERF_FEATURES;
        const double steps = (double)float_at(bytes, i) / mlperf_scales[feature];
        codes[i] = (mlperf_code_t)number_code(steps, mlperf_zero_points[feature], MLPERF_MOST_CODE);
    }
}

static void put_values(const uint8_t *bytes) {
    double sum = 0.0;
    for (uint32_t i = 0; i < MLPERF_INPUT_ELEMENTS; i++) {
        const double difference = (double)(float)output_value(i) - (double)float_at(bytes, i);
        sum += difference * difference;
    }
    text_put_real((float)(sum / MLPERF_INPUT_ELEMENTS));
}

#else

void inference_load(const uint8_t *bytes) {
    for (uint32_t i = 0; i < MLPERF_INPUT_ELEMENTS; i++) {
        codes[i] = mlperf_codes[i % MLPERF_CHANNELS][bytes[i]];
    }
}

static void put_values(const uint8_t *bytes) {
    (void)bytes;
    for (uint32_t i = 0; i < MLPERF_OUTPUT_ELEMENTS; i++) {
        if (i > 0U) {
            text_put(",");
        }
        text_put_real((float)output_value(i));
    }
}

#endif

bool inference_run(void) {
    memcpy(context.arena + model->inputs[0].offset, codes, sizeof codes);
    return model->run(&context) == EDGEC_OK;
}

void inference_put_results(const uint8_t *bytes) {
    text_put("m-results-[");
    put_values(bytes);
    text_put("]");
    text_end_line();
}
