/* Arithmetic of networks with 16-bit activations: edgec/base/reduced.py and the tables of
 * edgec/ir/qops/wide_functions.py in C.
 */
#ifndef EDGEC_WIDE_H
#define EDGEC_WIDE_H

#include <stdint.h>

#include "edgec/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clamp(rshr(sum * multiplier, shift)): sum has at most 48 bits, multiplier 15, shift in [8, 46].
 */
EDGEC_INLINE int16_t edgec_wide_end(int64_t sum, int32_t multiplier, int32_t shift, int32_t low,
                                    int32_t high) {
    const int64_t scaled = edgec_rshr64(sum * multiplier, shift);
    const int64_t floored = (scaled < low) ? low : scaled;
    return (int16_t)((floored > high) ? high : floored);
}

/* A table of 513 entries over all int16 numbers, interpolated at x, which is saturated. */
EDGEC_INLINE int32_t edgec_wide_lookup(const int16_t *table, int32_t x) {
    const int32_t near = edgec_clamp_s32(x, INT16_MIN, INT16_MAX);
    const int32_t step = 256 + (near >> 7);
    const int32_t slope = table[step + 1] - table[step];
    return table[step] + ((slope * (near & 127) + 64) >> 7);
}

/* 128 times a table of 513 entries over all int16 numbers, on the straight line between entries:
 * edgec/ir/qops/mixed.py, QMixedTable. */
EDGEC_INLINE int32_t edgec_mixed_line(const int16_t *table, int32_t x) {
    const int32_t step = 256 + (x >> 7);
    const int32_t entry = table[step];
    return entry * 128 + (x & 127) * (table[step + 1] - entry);
}

/* The logistic function at x in steps of 2^-12 / 3 by a table of 256 entries, in Q0.15. */
EDGEC_INLINE int16_t edgec_wide_logistic(const uint16_t *table, int32_t x) {
    const uint32_t magnitude = (uint32_t)((x < 0) ? -x : x);
    const uint32_t step = magnitude >> 9;
    uint32_t result = (uint32_t)INT16_MAX << 10;
    if (step < 255U) {
        const uint32_t low = table[step];
        result = (low << 9) + (magnitude & 511U) * (table[step + 1U] - low);
    }
    const uint32_t rounded = (x >= 0) ? result + 512U : (UINT32_C(1) << 25) - result + 511U;
    return (int16_t)(rounded >> 10);
}

/* tanh of the same, by the same table. */
EDGEC_INLINE int16_t edgec_wide_tanh(const uint16_t *table, int32_t x) {
    const uint32_t magnitude = (uint32_t)((x < 0) ? -x : x);
    const uint32_t step = magnitude >> 8;
    int32_t result = 0xFFFF << 8;
    if (step < 255U) {
        const uint32_t low = table[step];
        result = (int32_t)((low << 8) + (magnitude & 255U) * (table[step + 1U] - low));
    }
    const int32_t distance = result - (INT32_C(1) << 23);
    return (int16_t)(((x >= 0) ? distance + 128 : 127 - distance) >> 8);
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
