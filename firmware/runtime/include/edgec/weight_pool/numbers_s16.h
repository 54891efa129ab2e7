/* Biases and multipliers of 16 bits: see edgec/kernels/weightpool/short_numbers.py. */
#ifndef EDGEC_WEIGHT_POOL_NUMBERS_S16_H
#define EDGEC_WEIGHT_POOL_NUMBERS_S16_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A multiplier: 12 bits, and how far they are shifted in the upper 4 bits. */
EDGEC_INLINE int32_t edgec_short_multiplier(uint32_t stored, int32_t shift) {
    return (int32_t)((stored & 0xFFFU) << ((stored >> 12) + (uint32_t)shift));
}

/* The bias of the channel with this stored multiplier. */
EDGEC_INLINE int32_t edgec_short_bias(int32_t bias, uint32_t stored, int32_t shift) {
    return (int32_t)((uint32_t)bias << ((uint32_t)shift - (stored >> 12)));
}

/* The numbers of `count` output channels from `first` on. */
EDGEC_INLINE void edgec_short_numbers(int32_t *biases, int32_t *multipliers,
                                      const edgec_pool_short_params_t *params, int32_t first,
                                      int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const uint32_t stored = params->multiplier[first + i];
        biases[i] = edgec_short_bias(params->bias[first + i], stored, params->bias_shift);
        multipliers[i] = edgec_short_multiplier(stored, params->multiplier_shift);
    }
}

#ifdef __cplusplus
}
#endif

#endif
