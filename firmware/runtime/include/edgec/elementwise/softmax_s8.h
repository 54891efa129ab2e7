/* Rows of codes of int8 whose exponentials are looked up by their distance from the largest code, a
 * word of four codes at a time. */
#ifndef EDGEC_ELEMENTWISE_SOFTMAX_S8_H
#define EDGEC_ELEMENTWISE_SOFTMAX_S8_H

#include <stdbool.h>
#include <stdint.h>

#include "edgec/arithmetic/tflite.h"
#include "edgec/pooling/largest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether rows of `count` codes are read by words; where small code is preferred none is. */
EDGEC_INLINE bool edgec_softmax_reads_words(int32_t count) {
#if defined(__OPTIMIZE_SIZE__)
    (void)count;
    return false;
#else
    return edgec_pools_words(count) && count >= EDGEC_POOLING_WORD;
#endif
}

/* The largest of `count` codes, one or more. */
EDGEC_INLINE int32_t edgec_softmax_largest(const int8_t *x, int32_t count) {
    int32_t largest = INT8_MIN;
    int32_t i = 0;
    if (edgec_softmax_reads_words(count)) {
        uint32_t word = edgec_pooling_word(x);
        for (i = EDGEC_POOLING_WORD; i <= count - EDGEC_POOLING_WORD; i += EDGEC_POOLING_WORD) {
            word = edgec_larger(word, edgec_pooling_word(x + i), 1);
        }
        word = edgec_larger(word, (word >> 16) | (word << 16), 1);
        word = edgec_larger(word, word >> 8, 1);
        largest = (int8_t)(word & 0xFFU);
    }
    for (; i < count; i++) {
        largest = edgec_max_s32(largest, x[i]);
    }
    return largest;
}

/* Codes of a row of `count` whose distances come four at a time; the others one by one. */
EDGEC_INLINE int32_t edgec_softmax_in_words(int32_t count) {
    return edgec_softmax_reads_words(count) ? count - count % EDGEC_POOLING_WORD : 0;
}

/* Four times the largest code, for `edgec_softmax_distances`. */
EDGEC_INLINE uint32_t edgec_softmax_tops(int32_t largest) {
    return (uint32_t)(largest - INT8_MIN) * 0x01010101U;
}

/* The distances of four codes from the largest one, in the bytes of a word. */
EDGEC_INLINE uint32_t edgec_softmax_distances(const int8_t *x, uint32_t tops) {
    /* No code is above the largest one, so no byte borrows of its neighbour. */
    return tops - (edgec_pooling_word(x) ^ 0x80808080U);
}

/* clamp(zero_point + round(exponential / divisor)); divisor >= 1. */
EDGEC_INLINE int8_t edgec_softmax_quotient(int32_t exponential, uint32_t divisor,
                                           int32_t zero_point, int32_t low, int32_t high) {
    const uint32_t quotient = ((uint32_t)exponential + divisor / 2U) / divisor;
    /* Anything above 255 is clamped whatever the zero point. */
    const int32_t steps = (quotient > 255U) ? 255 : (int32_t)quotient;
    return (int8_t)edgec_clamp_s32(zero_point + steps, low, high);
}

/* The code of an exponential times the reciprocal of their sum. */
EDGEC_INLINE int8_t edgec_softmax_share(int32_t exponential, edgec_reciprocal_t inverse) {
    const int32_t product = edgec_high31(inverse.multiplier, exponential);
    const int32_t code = edgec_rshr_positive(product, 23 + inverse.places) + INT8_MIN;
    return (int8_t)edgec_min_s32(code, INT8_MAX);
}

#ifdef __cplusplus
}
#endif

#endif
