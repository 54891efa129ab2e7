/* Runs a model on many samples, for the host: the loop that would be slow outside C. */
#ifndef EDGEC_BATCH_H
#define EDGEC_BATCH_H

#include <stdint.h>

#include "edgec/edgec.h"

/* Content of an arena before a sample's inputs are written: a kernel that reads memory before
 * anything wrote it gives visibly wrong results. */
#define EDGEC_BATCH_POISON 0xA5

/* Settings of all samples of a call. */
typedef struct edgec_batch_form {
    uint32_t length; /* tokens of each sample; 0: the longest run */
    int32_t bits;    /* width of activations; 0: as compiled */
    /* Of a model with a state: the context of the stream that samples belong to, after init. */
    edgec_context_t *stream;
} edgec_batch_form_t;

/* Run samples [first, first + count), one after the other.  The outputs of a run that returns
 * EDGEC_NOT_YET are not written.
 *
 * arena: model->arena_bytes bytes, aligned to EDGEC_ARENA_ALIGNMENT; poisoned before each sample.
 * inputs, outputs: one array per input and output of the model, all samples one after the other.
 * form: length and width; inputs and outputs are as long as it says.
 * hook: called after each step of each sample; NULL: none.
 *
 * Returns the first status that is not EDGEC_OK; the outputs of that sample and of those after it
 * are not written.  Threads may share everything but the arena. */
edgec_status_t edgec_run_batch(const edgec_model_t *model, uint8_t *arena,
                               const uint8_t *const *inputs, uint8_t *const *outputs,
                               uint32_t first, uint32_t count, const edgec_batch_form_t *form,
                               edgec_step_hook_t hook);

#endif
