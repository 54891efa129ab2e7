/* Dot products of int8 with int8 weights that lie in order, by one or two filters at a time.
 *
 * With the DSP extension a word of four numbers becomes two pairs, less the zero point, and a dual
 * product takes a pair; with NEON eight numbers go together. */
#ifndef EDGEC_DENSE_DOTS_S8_H
#define EDGEC_DENSE_DOTS_S8_H

#include <stdbool.h>
#include <stddef.h>

#include "edgec/arithmetic/pairs_s16.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && !defined(__ARM_NEON)
/* The bytes 0 and 2 of a word, each plus the half of `to`, and the bytes 1 and 3. */
EDGEC_INLINE uint32_t edgec_plus_signed(uint32_t to, uint32_t word) {
    uint32_t result;
    __asm__("sxtab16 %0, %1, %2" : "=r"(result) : "r"(to), "r"(word));
    return result;
}

EDGEC_INLINE uint32_t edgec_plus_signed_high(uint32_t to, uint32_t word) {
    uint32_t result;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(to), "r"(word));
    return result;
}

/* A sum plus the products of four numbers, as two pairs, with a word of weights. */
EDGEC_INLINE int32_t edgec_four_dot(uint32_t even, uint32_t odd, uint32_t weights, int32_t sum) {
    uint32_t even_weights;
    uint32_t odd_weights;
    __asm__("sxtb16 %0, %1" : "=r"(even_weights) : "r"(weights));
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd_weights) : "r"(weights));
    return edgec_pair_dot(odd, odd_weights, edgec_pair_dot(even, even_weights, sum));
}
#endif

/* *sum += sum (x[i] - zero_point) * weights[i] over `count` numbers, and the same for a second
 * filter, whose weights begin `step` bytes later, unless its sum is NULL. */
EDGEC_INLINE void edgec_dots_s8(const int8_t *x, int32_t zero_point, const int8_t *weights,
                                int32_t step, int32_t count, int32_t *sum, int32_t *second_sum) {
    const bool both = second_sum != NULL;
    int32_t first = *sum;
    int32_t second = both ? *second_sum : 0;
    int32_t i = 0;
#if defined(__ARM_NEON)
    const int16x8_t zeros = vdupq_n_s16((int16_t)-zero_point);
    int32x4_t totals = vdupq_n_s32(0);
    int32x4_t others = vdupq_n_s32(0);
    for (; i <= count - 8; i += 8) {
        const int16x8_t values = vaddw_s8(zeros, vld1_s8(x + i));
        const int16x8_t own = vmovl_s8(vld1_s8(weights + i));
        totals = vmlal_s16(totals, vget_low_s16(values), vget_low_s16(own));
        totals = vmlal_s16(totals, vget_high_s16(values), vget_high_s16(own));
        if (both) {
            const int16x8_t next = vmovl_s8(vld1_s8(weights + step + i));
            others = vmlal_s16(others, vget_low_s16(values), vget_low_s16(next));
            others = vmlal_s16(others, vget_high_s16(values), vget_high_s16(next));
        }
    }
    if (i > 0) {
        first += vgetq_lane_s32(totals, 0) + vgetq_lane_s32(totals, 1) + vgetq_lane_s32(totals, 2) +
                 vgetq_lane_s32(totals, 3);
        second += vgetq_lane_s32(others, 0) + vgetq_lane_s32(others, 1) +
                  vgetq_lane_s32(others, 2) + vgetq_lane_s32(others, 3);
    }
#elif defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    const uint32_t zeros = ((uint32_t)-zero_point & 0xFFFFU) * 0x00010001U;
    for (; i <= count - 4; i += 4) {
        const uint32_t word = edgec_word_at(x + i);
        const uint32_t even = edgec_plus_signed(zeros, word);
        const uint32_t odd = edgec_plus_signed_high(zeros, word);
        first = edgec_four_dot(even, odd, edgec_word_at(weights + i), first);
        if (both) {
            second = edgec_four_dot(even, odd, edgec_word_at(weights + step + i), second);
        }
    }
#endif
    for (; i < count; i++) {
        const int32_t value = x[i] - zero_point;
        first += value * weights[i];
        if (both) {
            second += value * weights[step + i];
        }
    }
    *sum = first;
    if (both) {
        *second_sum = second;
    }
}

#ifdef __cplusplus
}
#endif

#endif
