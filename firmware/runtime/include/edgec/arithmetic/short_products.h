/* Requantization where a kernel knows how large its accumulators can be.
 *
 * A product of 32 by 32 bits takes Armv6-M four products of halves, a call and the carry between
 * the halves; on Cortex-M3 it is one instruction of up to 7 cycles.  With accumulators of some 20
 * bits there is no carry to look for, and most layers need three products of halves, or two of a
 * multiplier that is cut in the right place.  edgec/kernels/common/short_product.py proves from the
 * weights of a layer which of them is exact; the results are those of math.h and tflite.h, bit for
 * bit.
 */
#ifndef EDGEC_ARITHMETIC_SHORT_PRODUCTS_H
#define EDGEC_ARITHMETIC_SHORT_PRODUCTS_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/tflite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* floor((a * b + 2^16 * half) / 2^32) where the middle of the product fits 32 bits. */
EDGEC_INLINE int32_t edgec_near_product(int32_t a, int32_t b, int32_t half) {
    const uint32_t b_low = (uint32_t)b & 0xFFFFU;
    const uint32_t a_low = (uint32_t)a & 0xFFFFU;
    const int32_t inner = (a >> 16) * (int32_t)b_low + (int32_t)((a_low * b_low) >> 16);
    return (a >> 16) * (b >> 16) + ((inner + (int32_t)a_low * (b >> 16) + half) >> 16);
}

/* floor(a * b / 2^16) where it fits 32 bits. */
EDGEC_INLINE int32_t edgec_short_product(int32_t a, int32_t b) {
    const uint32_t b_low = (uint32_t)b & 0xFFFFU;
    const uint32_t a_low = (uint32_t)a & 0xFFFFU;
    return a * (b >> 16) + (a >> 16) * (int32_t)b_low + (int32_t)((a_low * b_low) >> 16);
}

/* x limited to `bits` bits, a constant; as it is for 0. */
EDGEC_INLINE int32_t edgec_limited(int32_t x, int32_t bits) {
    if (bits == 0) {
        return x;
    }
/* Without optimization `bits` is no constant to the compiler. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__ARM_FEATURE_SAT) && defined(__OPTIMIZE__)
    int32_t result;
    __asm__("ssat %0, %1, %2" : "=r"(result) : "i"(bits), "r"(x));
    return result;
#else
    const int32_t most = (int32_t)(((uint32_t)1 << (bits - 1)) - 1U);
    return edgec_clamp_s32(x, -most - 1, most);
#endif
}

/* edgec_requantize_s8 of an accumulator that is limited to `bits` bits first, by the upper part of
 * the multiplier and the `split` bits of the lower part, a signed number. */
EDGEC_INLINE int8_t edgec_requantize_split_s8(int32_t bits, int32_t split, int32_t acc,
                                              int32_t multiplier, int32_t shift, int32_t zero_point,
                                              int32_t act_min, int32_t act_max) {
    const int32_t rest = shift - split;
    const int32_t low = (int32_t)((uint32_t)multiplier << (32 - split)) >> (32 - split);
    const int32_t high = (multiplier - low) >> split;
    const int32_t start = zero_point * ((int32_t)1 << rest) + ((int32_t)1 << (rest - 1));
    const int32_t limited = edgec_limited(acc, bits);
    const int32_t scaled = start + limited * high + ((limited * low) >> split);
    return edgec_shifted_s8(scaled, rest, act_min, act_max);
}

/* edgec_requantize_s8 by as many products of halves, 3 or 4, on cores that need them. */
EDGEC_INLINE int8_t edgec_requantize_by_s8(int32_t products, int32_t acc, int32_t multiplier,
                                           int32_t shift, int32_t zero_point, int32_t act_min,
                                           int32_t act_max) {
    if (EDGEC_HALF_PRODUCTS && products == 3) {
        const int32_t rest = shift - 16;
        const int32_t start = zero_point * ((int32_t)1 << rest) + ((int32_t)1 << (rest - 1));
        return edgec_shifted_s8(edgec_short_product(acc, multiplier) + start, rest, act_min,
                                act_max);
    }
    if (EDGEC_HALF_PRODUCTS && products == 4) {
        const int32_t half = (shift == 32) ? 1 << 15 : 0;
        const int32_t high = edgec_near_product(acc, multiplier, half);
        return edgec_clamp_s8(zero_point + edgec_rshr32(high, shift - 32), act_min, act_max);
    }
    return edgec_requantize_s8(acc, multiplier, shift, zero_point, act_min, act_max);
}

/* edgec_requantize_offset_s8. */
EDGEC_INLINE int8_t edgec_requantize_offset_by_s8(int32_t products, int32_t acc, int32_t multiplier,
                                                  int32_t offset, int32_t shift, int32_t act_min,
                                                  int32_t act_max) {
    if (EDGEC_HALF_PRODUCTS && products == 4) {
        const int32_t high = edgec_near_product(acc, multiplier, 1 << 15) + offset;
        return edgec_shifted_s8(high, shift, act_min, act_max);
    }
    return edgec_requantize_offset_s8(acc, multiplier, offset, shift, act_min, act_max);
}

/* edgec_requantize_twice_s8. */
EDGEC_INLINE int8_t edgec_requantize_twice_by_s8(int32_t products, int32_t acc, int32_t multiplier,
                                                 int32_t offset, int32_t shift, int32_t act_min,
                                                 int32_t act_max) {
    if (EDGEC_HALF_PRODUCTS && products == 4) {
        const int32_t high = edgec_near_product(2 * acc, multiplier, 1 << 15);
        return edgec_shifted_s8(high + offset + (acc >> 31), shift, act_min, act_max);
    }
    return edgec_requantize_twice_s8(acc, multiplier, offset, shift, act_min, act_max);
}

/* edgec_requantize_twice_s16. */
EDGEC_INLINE int16_t edgec_requantize_twice_by_s16(int32_t products, int32_t acc,
                                                   int32_t multiplier, int32_t offset,
                                                   int32_t shift, int32_t low, int32_t high) {
    if (EDGEC_HALF_PRODUCTS && products == 4) {
        const int32_t near = edgec_near_product(2 * acc, multiplier, 1 << 15);
        return (int16_t)edgec_clamp_s32((near + offset + (acc >> 31)) >> shift, low, high);
    }
    return edgec_requantize_twice_s16(acc, multiplier, offset, shift, low, high);
}

#ifdef __cplusplus
}
#endif

#endif
