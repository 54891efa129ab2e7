/* Products of two matrices that are both computed, with the DSP extension: rows and columns become
 * pairs of int16, less their zero points, and SMLAD (of sums of 64 bits SMLALD) multiplies two pairs.
 *
 *     rows     [2][pairs] of int16
 *     columns  [2][pairs] of int16
 */
#ifndef EDGEC_DENSE_MATMUL_DSP_H
#define EDGEC_DENSE_MATMUL_DSP_H

#include <stdint.h>

#include "edgec/arithmetic/pairs_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `depth` numbers that lie `step` apart as pairs; after an odd number of them there is a zero. */
#define EDGEC_MATMUL_PAIRS(NAME, TYPE)                                                             \
    EDGEC_SEPARATE void NAME(const TYPE *from, int32_t step, int32_t depth, int32_t zero,          \
                             edgec_pair_t *to) {                                                   \
        for (int32_t i = depth / 2; i > 0; i--, from += 2 * step) {                                \
            const uint32_t first = (uint32_t)(from[0] - zero) & 0xFFFFU;                           \
            *to++ = first | (uint32_t)(from[step] - zero) << 16;                                   \
        }                                                                                          \
        if (depth % 2 > 0) {                                                                       \
            *to = (uint32_t)(from[0] - zero) & 0xFFFFU;                                            \
        }                                                                                          \
    }
EDGEC_MATMUL_PAIRS(edgec_matmul_pairs_s8, int8_t)
EDGEC_MATMUL_PAIRS(edgec_matmul_pairs_s16, edgec_s16_t)
#undef EDGEC_MATMUL_PAIRS

/* sums[2 * row + column] = the dot products of two rows and two columns. */
EDGEC_SEPARATE void edgec_matmul_dot_s32(const edgec_pair_t *rows, const edgec_pair_t *columns,
                                         int32_t pairs, int32_t *sums) {
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;
    for (const edgec_pair_t *const end = rows + pairs; rows < end; rows++, columns++) {
        const uint32_t a = rows[0];
        const uint32_t b = columns[0];
        const uint32_t c = rows[pairs];
        const uint32_t d = columns[pairs];
        sum0 = edgec_pair_dot(a, b, sum0);
        sum1 = edgec_pair_dot(a, d, sum1);
        sum2 = edgec_pair_dot(c, b, sum2);
        sum3 = edgec_pair_dot(c, d, sum3);
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

/* sum + a.low * b.low + a.high * b.high, in 64 bits. */
EDGEC_INLINE int64_t edgec_pair_dot_s64(uint32_t a, uint32_t b, int64_t sum) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    __asm__("smlald %Q0, %R0, %1, %2" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
#else
    sum += edgec_low_low(a, b, 0);
    return sum + edgec_high_high(a, b, 0);
#endif
}

/* The same in 64 bits, row by row. */
EDGEC_SEPARATE void edgec_matmul_dot_s64(const edgec_pair_t *rows, const edgec_pair_t *columns,
                                         int32_t pairs, int64_t *sums) {
    for (int32_t row = 0; row < 2; row++, rows += pairs, sums += 2) {
        int64_t first = 0;
        int64_t second = 0;
        for (int32_t i = 0; i < pairs; i++) {
            first = edgec_pair_dot_s64(rows[i], columns[i], first);
            second = edgec_pair_dot_s64(rows[i], columns[pairs + i], second);
        }
        sums[0] = first;
        sums[1] = second;
    }
}

#ifdef __cplusplus
}
#endif

#endif
