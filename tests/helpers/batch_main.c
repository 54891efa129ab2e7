/* Runs the model EDGEC_MODEL on samples from a file; for builds that cannot be loaded into Python.
 *
 *     batch_main COUNT INPUTS STEPS OUTPUTS [LENGTH]
 *
 * INPUTS holds each input of all samples, one input after the other; OUTPUTS likewise.  STEPS gets
 * the output tensor of each step of each sample.  LENGTH: tokens of a run.  The arena is exactly as
 * large as the model asks for, so that the address sanitizer sees every byte beyond it. */
#include <stdio.h>
#include <stdlib.h>

#include "edgec_batch.h"

extern const edgec_model_t EDGEC_MODEL;

enum { MOST_TENSORS = 256 };

static FILE *steps;

static void write_step(void *user, uint32_t step, const void *output, uint32_t bytes) {
    (void)user;
    (void)step;
    if (fwrite(output, 1, bytes, steps) != bytes) {
        exit(3);
    }
}

static uint8_t *allocate(size_t bytes) {
    uint8_t *memory = malloc(bytes);
    if (memory == NULL) {
        exit(2);
    }
    return memory;
}

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        exit(2);
    }
    return file;
}

static size_t bytes_of_run(const edgec_model_t *model, const edgec_tensor_t *tensor,
                           uint32_t length) {
    const size_t missing = length == 0U ? 0U : model->max_length - length;
    return tensor->bytes - missing * tensor->row_bytes;
}

int main(int argc, char **argv) {
    const edgec_model_t *model = &EDGEC_MODEL;
    if (argc < 5 || argc > 6 || model->num_inputs > MOST_TENSORS ||
        model->num_outputs > MOST_TENSORS) {
        return 1;
    }
    const uint32_t count = (uint32_t)strtoul(argv[1], NULL, 10);
    const uint32_t length = argc == 6 ? (uint32_t)strtoul(argv[5], NULL, 10) : 0U;
    const edgec_batch_form_t form = {.length = length, .bits = 0};
    uint8_t *inputs[MOST_TENSORS];
    uint8_t *outputs[MOST_TENSORS];
    FILE *in = open_file(argv[2], "rb");
    for (uint32_t i = 0; i < model->num_inputs; ++i) {
        const size_t bytes = (size_t)count * bytes_of_run(model, &model->inputs[i], length);
        inputs[i] = allocate(bytes);
        if (fread(inputs[i], 1, bytes, in) != bytes) {
            return 3;
        }
    }
    for (uint32_t i = 0; i < model->num_outputs; ++i) {
        outputs[i] = allocate((size_t)count * bytes_of_run(model, &model->outputs[i], length));
    }
    steps = open_file(argv[3], "wb");
    uint8_t *arena = allocate(model->arena_bytes);
    const edgec_status_t status = edgec_run_batch(model, arena, (const uint8_t *const *)inputs,
                                                  outputs, 0, count, &form, write_step);
    free(arena);
    FILE *out = open_file(argv[4], "wb");
    for (uint32_t i = 0; i < model->num_outputs; ++i) {
        (void)fwrite(outputs[i], 1, (size_t)count * bytes_of_run(model, &model->outputs[i], length),
                     out);
        free(outputs[i]);
    }
    for (uint32_t i = 0; i < model->num_inputs; ++i) {
        free(inputs[i]);
    }
    return fclose(in) == 0 && fclose(out) == 0 && fclose(steps) == 0 ? (int)status : 3;
}
