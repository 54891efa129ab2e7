/* The model between the runner's numbers: bytes in, real numbers out. */
#ifndef EDGEC_APP_INFERENCE_H
#define EDGEC_APP_INFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "edgec/edgec.h"

/* Take the model into use; false, with a message, when it refuses the arena. */
bool inference_begin(const edgec_model_t *model, uint8_t *arena, uint32_t arena_bytes);

/* Make codes of MLPERF_INPUT_BYTES bytes of the runner: pixels or codes of 8 bits, or float32. */
void inference_load(const uint8_t *bytes);

/* Run the model once on what was loaded; false when it fails. */
bool inference_run(void);

/* Say what the last run gave, `m-results-[...]`, with three decimals: scores, or for anomaly
 * detection the mean squared error of the output beside the input, which is at `bytes`. */
void inference_put_results(const uint8_t *bytes);

#endif
