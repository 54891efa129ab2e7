/* Arithmetic of networks with 16-bit activations: edgec/base/tflite_arithmetic.py and the tables of
 * edgec/ir/qops/wide_functions.py in C.
 */
#ifndef EDGEC_ARITHMETIC_TFLITE_S16_H
#define EDGEC_ARITHMETIC_TFLITE_S16_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clamp(rshr(sum * multiplier, shift)): sum has at most 48 bits, multiplier 15, shift in [8, 46].
 */
EDGEC_INLINE int16_t edgec_tflite_s16_end(int64_t sum, int32_t multiplier, int32_t shift,
                                          int32_t low, int32_t high) {
    const int64_t scaled = edgec_rshr64(sum * multiplier, shift);
    const int64_t floored = (scaled < low) ? low : scaled;
    return (int16_t)((floored > high) ? high : floored);
}

/* The same of a sum of 32 bits and a shift of 17 or more: half a step is a whole number of 2^16, so
 * that the product, of 47 bits, may lose its last 16 before. */
EDGEC_INLINE int16_t edgec_tflite_s16_high(int32_t sum, int32_t multiplier, int32_t shift,
                                           int32_t low, int32_t high) {
#if defined(__ARM_FEATURE_DSP) || defined(__aarch64__)
    const int32_t word = (int32_t)(((int64_t)sum * (multiplier * 65536)) >> 32);
#else
    const uint32_t lower = ((uint32_t)sum & 0xFFFFU) * (uint32_t)multiplier;
    const int32_t word = (sum >> 16) * multiplier + (int32_t)(lower >> 16);
#endif
    const int32_t half = (int32_t)1 << (shift - 17);
    return (int16_t)edgec_clamp_s32((word + half) >> (shift - 16), low, high);
}

/* A table of 513 entries over all int16 numbers, interpolated at x, which is saturated. */
EDGEC_INLINE int32_t edgec_wide_lookup(const int16_t *table, int32_t x) {
    const int32_t near = edgec_clamp_s32(x, INT16_MIN, INT16_MAX);
    const int32_t step = 256 + (near >> 7);
    const int32_t slope = table[step + 1] - table[step];
    return table[step] + ((slope * (near & 127) + 64) >> 7);
}

/* Number of bits of x, 0 for 0. */
EDGEC_INLINE int32_t edgec_wide_bits(uint32_t x) {
    int32_t bits = 0;
    for (uint32_t rest = x; rest != 0U; rest >>= 1) {
        bits++;
    }
    return bits;
}

#ifdef __cplusplus
}
#endif

#endif
