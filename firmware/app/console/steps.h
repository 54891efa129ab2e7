/* Replies of the protocol on the steps of a run: hooks (edgec_step_hook_t) that write lines. */
#ifndef EDGEC_APP_STEPS_H
#define EDGEC_APP_STEPS_H

#include <stdint.h>

/* The CRC-32 of what the step wrote; `user` is not used. */
void trace_step(void *user, uint32_t step, const void *output, uint32_t bytes);

/* Reply with the output of one step; `user` is its number, a uint32_t. */
void dump_step(void *user, uint32_t step, const void *output, uint32_t bytes);

/* The cycles of the step; `user` is the cycle count at which it began, a uint32_t. */
void bench_step(void *user, uint32_t step, const void *output, uint32_t bytes);

#endif
