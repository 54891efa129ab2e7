#include "edgec_batch.h"

#include <stddef.h>
#include <string.h>

static edgec_status_t run_sample(const edgec_model_t *model, uint8_t *arena,
                                 const uint8_t *const *inputs, uint8_t *const *outputs,
                                 size_t sample, edgec_step_hook_t hook) {
    edgec_context_t context;
    (void)memset(arena, EDGEC_BATCH_POISON, model->arena_bytes);
    edgec_status_t status = model->init(&context, arena, model->arena_bytes);
    if (status != EDGEC_OK) {
        return status;
    }
    for (uint32_t i = 0; i < model->num_inputs; ++i) {
        const edgec_tensor_t *tensor = &model->inputs[i];
        (void)memcpy(arena + tensor->offset, inputs[i] + sample * tensor->bytes, tensor->bytes);
    }
    context.hook = hook;
    status = model->run(&context);
    if (status != EDGEC_OK) {
        return status;
    }
    for (uint32_t i = 0; i < model->num_outputs; ++i) {
        const edgec_tensor_t *tensor = &model->outputs[i];
        (void)memcpy(outputs[i] + sample * tensor->bytes, arena + tensor->offset, tensor->bytes);
    }
    return EDGEC_OK;
}

edgec_status_t edgec_batch_run(const edgec_model_t *model, uint8_t *arena,
                               const uint8_t *const *inputs, uint8_t *const *outputs,
                               uint32_t first, uint32_t count, edgec_step_hook_t hook) {
    for (uint32_t i = 0; i < count; ++i) {
        const size_t sample = (size_t)first + i;
        const edgec_status_t status = run_sample(model, arena, inputs, outputs, sample, hook);
        if (status != EDGEC_OK) {
            return status;
        }
    }
    return EDGEC_OK;
}
