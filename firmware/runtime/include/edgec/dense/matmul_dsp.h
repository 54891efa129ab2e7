/* Products of two matrices that are both computed, with the DSP extension: rows and columns become
 * pairs of int16, less their zero points, and SMLAD (of sums of 64 bits SMLALD) multiplies two
 * pairs.
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

/* `depth` numbers that lie `step` apart as pairs, an even number of them; what is missing is zero.
 */
#define EDGEC_MATMUL_PAIRS(NAME, TYPE)                                                             \
    EDGEC_SEPARATE void NAME(const TYPE *from, int32_t step, int32_t depth, int32_t zero,          \
                             edgec_pair_t *to) {                                                   \
        for (int32_t i = depth / 2; i > 0; i--, from += 2 * step) {                                \
            const uint32_t first = (uint32_t)(from[0] - zero) & 0xFFFFU;                           \
            *to++ = first | (uint32_t)(from[step] - zero) << 16;                                   \
        }                                                                                          \
        if (depth % 2 > 0) {                                                                       \
            *to++ = (uint32_t)(from[0] - zero) & 0xFFFFU;                                          \
        }                                                                                          \
        if ((depth + 1) / 2 % 2 > 0) {                                                             \
            *to = 0;                                                                               \
        }                                                                                          \
    }
EDGEC_MATMUL_PAIRS(edgec_matmul_pairs_s8, int8_t)
EDGEC_MATMUL_PAIRS(edgec_matmul_pairs_s16, edgec_s16_t)
#undef EDGEC_MATMUL_PAIRS

#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* Two rows by two columns by a pair; the second ones are %[step] bytes after the first. */
#define EDGEC_MATMUL_PAIR                                                                          \
    "ldr %[b], [%[x], %[step]]\n\t"                                                                \
    "ldr %[d], [%[w], %[step]]\n\t"                                                                \
    "ldr %[a], [%[x]], #4\n\t"                                                                     \
    "ldr %[c], [%[w]], #4\n\t"                                                                     \
    "smlad %[s3], %[b], %[d], %[s3]\n\t"                                                           \
    "smlad %[s1], %[a], %[d], %[s1]\n\t"                                                           \
    "smlad %[s0], %[a], %[c], %[s0]\n\t"                                                           \
    "smlad %[s2], %[b], %[c], %[s2]\n\t"
#endif

/* sums[2 * row + column] = the dot products of two rows and two columns of an even number of pairs.
 */
EDGEC_SEPARATE void edgec_matmul_dot_s32(const edgec_pair_t *rows, const edgec_pair_t *columns,
                                         int32_t pairs, int32_t *sums) {
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;
/* Without optimization a register holds the frame, and too few are left, as always with Clang. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__OPTIMIZE__) &&                  \
    !defined(__clang__)
    const edgec_pair_t *const end = rows + pairs;
    const int32_t step = pairs * 4;
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t d;
    __asm__ volatile(
        "1:\n\t" EDGEC_MATMUL_PAIR EDGEC_MATMUL_PAIR "cmp %[x], %[end]\n\t"
        "bne 1b\n\t"
        : [w] "+&r"(columns), [x] "+&r"(rows), [s0] "+&r"(sum0), [s1] "+&r"(sum1), [s2] "+&r"(sum2),
          [s3] "+&r"(sum3), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
        : [step] "r"(step), [end] "r"(end)
        : "cc", "memory");
#else
    for (int32_t i = 0; i < pairs; i++) {
        sum0 = edgec_pair_dot(rows[i], columns[i], sum0);
        sum1 = edgec_pair_dot(rows[i], columns[pairs + i], sum1);
        sum2 = edgec_pair_dot(rows[pairs + i], columns[i], sum2);
        sum3 = edgec_pair_dot(rows[pairs + i], columns[pairs + i], sum3);
    }
#endif
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
