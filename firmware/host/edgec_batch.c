#include "edgec_batch.h"

#include <stddef.h>
#include <string.h>

/* Bytes of a tensor in a run. */
static size_t bytes_of_run(const edgec_model_t *model, const edgec_tensor_t *tensor,
                           uint32_t length) {
    const uint32_t missing = length == 0U ? 0U : model->max_length - length;
    return tensor->bytes - (size_t)missing * tensor->row_bytes;
}

static edgec_status_t run_sample(const edgec_model_t *model, uint8_t *arena,
                                 const uint8_t *const *inputs, uint8_t *const *outputs,
                                 size_t sample, const edgec_batch_form_t *form,
                                 edgec_step_hook_t hook) {
    edgec_context_t own;
    edgec_context_t *context = form->stream != NULL ? form->stream : &own;
    edgec_status_t status = EDGEC_OK;
    (void)memset(arena, EDGEC_BATCH_POISON, model->arena_bytes);
    if (form->stream == NULL) {
        status = model->init(context, arena, model->arena_bytes);
    }
    if (status != EDGEC_OK) {
        return status;
    }
    context->hook = hook;
    if (form->bits != 0) {
        (void)model->set_activation_bits(context, form->bits);
    }
    const size_t runs = model->image_runs == 0U ? 1U : model->image_runs;
    const size_t image = runs / (model->image_passes == 0U ? 1U : model->image_passes);
    for (size_t run = 0; run < runs; ++run) {
        const size_t part = sample * image + run % image;
        for (uint32_t i = 0; i < model->num_inputs; ++i) {
            const edgec_tensor_t *tensor = &model->inputs[i];
            const size_t bytes = bytes_of_run(model, tensor, form->length);
            (void)memcpy(arena + tensor->offset, inputs[i] + part * bytes, bytes);
        }
        status =
            form->length == 0U ? model->run(context) : model->run_length(context, form->length);
        if (status != EDGEC_OK && status != EDGEC_NOT_YET) {
            return status;
        }
    }
    if (status == EDGEC_NOT_YET) {
        return EDGEC_OK;
    }
    for (uint32_t i = 0; i < model->num_outputs; ++i) {
        const edgec_tensor_t *tensor = &model->outputs[i];
        const size_t bytes = bytes_of_run(model, tensor, form->length);
        (void)memcpy(outputs[i] + sample * bytes, arena + tensor->offset, bytes);
    }
    return EDGEC_OK;
}

edgec_status_t edgec_run_batch(const edgec_model_t *model, uint8_t *arena,
                               const uint8_t *const *inputs, uint8_t *const *outputs,
                               uint32_t first, uint32_t count, const edgec_batch_form_t *form,
                               edgec_step_hook_t hook) {
    if (form->length != 0U && (model->run_length == NULL || form->length > model->max_length)) {
        return EDGEC_ERROR_LENGTH;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const size_t sample = (size_t)first + i;
        const edgec_status_t status = run_sample(model, arena, inputs, outputs, sample, form, hook);
        if (status != EDGEC_OK) {
            return status;
        }
    }
    return EDGEC_OK;
}
