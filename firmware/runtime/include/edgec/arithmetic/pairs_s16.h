/* Pairs of int16 in a word: loads, products and sums of two values at a time.
 *
 * One instruction each with the DSP extension; the C forms compute the same, exactly.
 */
#ifndef EDGEC_ARITHMETIC_PAIRS_S16_H
#define EDGEC_ARITHMETIC_PAIRS_S16_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/rescale16.h"
#include "edgec/dense/dense_3x2_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two neighbouring int16, or four int8, wherever they lie. */
EDGEC_INLINE uint32_t edgec_word_at(const void *from) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* A constant that the compiler keeps in a register instead of making it again. */
EDGEC_INLINE uint32_t edgec_kept(uint32_t constant) {
#if defined(__GNUC__)
    __asm__("" : "+r"(constant));
#endif
    return constant;
}

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
#define EDGEC_PAIR_PRODUCT(NAME, INSTRUCTION)                                                      \
    EDGEC_INLINE int32_t NAME(uint32_t a, uint32_t b, int32_t sum) {                               \
        int32_t result;                                                                            \
        __asm__(INSTRUCTION " %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));          \
        return result;                                                                             \
    }
EDGEC_PAIR_PRODUCT(edgec_pair_dot, "smlad")
EDGEC_PAIR_PRODUCT(edgec_low_low, "smlabb")
EDGEC_PAIR_PRODUCT(edgec_high_low, "smlatb")
EDGEC_PAIR_PRODUCT(edgec_high_high, "smlatt")
#undef EDGEC_PAIR_PRODUCT
#else
EDGEC_INLINE int32_t edgec_low_half(uint32_t pair) {
    return (int16_t)(pair & 0xFFFFU);
}

EDGEC_INLINE int32_t edgec_high_half(uint32_t pair) {
    return (int16_t)(pair >> 16);
}

/* sum + a.low * b.low */
EDGEC_INLINE int32_t edgec_low_low(uint32_t a, uint32_t b, int32_t sum) {
    return edgec_low_half(a) * edgec_low_half(b) + sum;
}

/* sum + a.high * b.low */
EDGEC_INLINE int32_t edgec_high_low(uint32_t a, uint32_t b, int32_t sum) {
    return edgec_high_half(a) * edgec_low_half(b) + sum;
}

/* sum + a.high * b.high */
EDGEC_INLINE int32_t edgec_high_high(uint32_t a, uint32_t b, int32_t sum) {
    return edgec_high_half(a) * edgec_high_half(b) + sum;
}

/* sum + a.low * b.low + a.high * b.high */
EDGEC_INLINE int32_t edgec_pair_dot(uint32_t a, uint32_t b, int32_t sum) {
    return edgec_high_high(a, b, edgec_low_low(a, b, sum));
}
#endif

#ifdef __cplusplus
}
#endif

#endif
