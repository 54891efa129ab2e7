/* TensorFlow Lite's two roundings: edgec/base/tflite_arithmetic.py and
 * edgec/base/tflite_arithmetic.py in C.
 *
 * A product rounds half up to its high word; a right shift rounds halves away from zero.  Kernels
 * of networks that compute as TensorFlow Lite Micro does use these; all others use math.h alone.
 */
#ifndef EDGEC_ARITHMETIC_TFLITE_H
#define EDGEC_ARITHMETIC_TFLITE_H

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* rshr(a * b, 31): |a| < 2^30, |b| < 2^31. */
EDGEC_INLINE int32_t edgec_product31(int32_t a, int32_t b) {
    return edgec_requantize(a * 2, b, 32);
}

/* Right shift by [0, 31], halves away from zero; |x| <= INT32_MAX - 2^(shift-1). */
EDGEC_INLINE int32_t edgec_rshr_away(int32_t x, int32_t shift) {
    if (shift == 0) {
        return x;
    }
    const int32_t half = (int32_t)(((uint32_t)1 << shift) >> 1);
    return (x + half + (x >> 31)) >> shift;
}

/* Right shift of x >= 0 by [1, 31], rounded half up. */
EDGEC_INLINE int32_t edgec_rshr_positive(int32_t x, int32_t shift) {
    return (int32_t)(((uint32_t)x + ((uint32_t)1 << (shift - 1))) >> shift);
}

/* x times a factor, rounded twice: |x * 2^left| < 2^30, 0 <= multiplier < 2^31. */
EDGEC_INLINE int32_t edgec_twice(int32_t x, int32_t multiplier, int32_t left, int32_t right) {
    return edgec_rshr_away(edgec_product31(x * ((int32_t)1 << left), multiplier), right);
}

/* clamp(zero_point + twice(acc)), with bounds within int8. */
EDGEC_INLINE int8_t edgec_twice_s8(int32_t acc, int32_t multiplier, int32_t left, int32_t right,
                                   int32_t zero_point, int32_t low, int32_t high) {
    return edgec_clamp_s8(zero_point + edgec_twice(acc, multiplier, left, right), low, high);
}

/* The same with bounds within int16. */
EDGEC_INLINE int16_t edgec_twice_s16(int32_t acc, int32_t multiplier, int32_t left, int32_t right,
                                     int32_t zero_point, int32_t low, int32_t high) {
    const int32_t code = zero_point + edgec_twice(acc, multiplier, left, right);
    return (int16_t)edgec_clamp_s32(code, low, high);
}

/* An operand of an addition in steps of 2^-20 (ir/qops/add.py, TfliteSum): a code less its zero
 * point, in fine steps. */
EDGEC_INLINE int32_t edgec_tflite_sum20(int32_t distance, int32_t multiplier, int32_t right) {
#if EDGEC_HALF_PRODUCTS
    /* Nine bits by 31: the low half of the multiplier alone meets what is rounded. */
    const int32_t low = distance * (multiplier & 0xFFFF);
    const int32_t high = distance * (multiplier >> 16) * 32;
    return edgec_rshr_away(high + edgec_rshr32(low, 11), right);
#else
    return edgec_twice(distance, multiplier, 20, right);
#endif
}

/* sum / count to the nearest, halves away from zero; count >= 1. */
EDGEC_INLINE int32_t edgec_quotient(int32_t sum, int32_t count) {
    const uint32_t magnitude = (uint32_t)((sum < 0) ? -sum : sum);
    const int32_t quotient = (int32_t)((magnitude + (uint32_t)count / 2U) / (uint32_t)count);
    return (sum < 0) ? -quotient : quotient;
}

/* clamp(sum / count): the mean of codes, with bounds within the type of the result. */
EDGEC_INLINE int8_t edgec_mean_s8(int32_t sum, int32_t count, int32_t low, int32_t high) {
    return edgec_clamp_s8(edgec_quotient(sum, count), low, high);
}

EDGEC_INLINE int16_t edgec_mean_s16(int32_t sum, int32_t count, int32_t low, int32_t high) {
    return (int16_t)edgec_clamp_s32(edgec_quotient(sum, count), low, high);
}

/* rshr(a * b, 31) of any numbers but twice -2^31. */
EDGEC_INLINE int32_t edgec_high31(int32_t a, int32_t b) {
    return (int32_t)edgec_rshr64((int64_t)a * b, 31);
}

/* x << shift, saturated. */
EDGEC_INLINE int32_t edgec_shifted_left(int32_t x, int32_t shift) {
    const int32_t limit = INT32_MAX >> shift;
    if (x > limit) {
        return INT32_MAX;
    }
    return (x < -limit - 1) ? INT32_MIN : x * ((int32_t)1 << shift);
}

/* 1 / (1 + x) in Q0.31 of x in [0, 1) in Q0.31, by three steps of Newton's division. */
EDGEC_INLINE int32_t edgec_reciprocal_of_one_plus(int32_t x) {
    const int32_t half_denominator = (int32_t)(((int64_t)x + INT32_MAX + 1) >> 1);
    int32_t guess = 1515870810 + edgec_high31(half_denominator, -1010580540);
    for (int32_t step = 0; step < 3; step++) {
        const int32_t error = ((int32_t)1 << 29) - edgec_high31(half_denominator, guess);
        guess += edgec_shifted_left(edgec_high31(guess, error), 2);
    }
    return edgec_shifted_left(guess, 1);
}

/* A reciprocal as multiplier * 2^-(31 + places). */
typedef struct edgec_reciprocal {
    int32_t multiplier;
    int32_t places;
} edgec_reciprocal_t;

/* 1 / x of x > 0 in Q12.19. */
EDGEC_INLINE edgec_reciprocal_t edgec_reciprocal12(int32_t x) {
    int32_t headroom = 0;
    while (((uint32_t)x << headroom) < 0x80000000U) {
        headroom++;
    }
    const int32_t minus_one = (int32_t)(((uint32_t)x << headroom) - 0x80000000U);
    return (edgec_reciprocal_t){edgec_reciprocal_of_one_plus(minus_one), 12 - headroom};
}

/* clamp(((acc * multiplier + 2^31 + offset * 2^32) >> 32) >> shift): Offset31 of
 * ir/qops/tflite_forms.py. shift in [0, 30], |acc * multiplier| < 2^62, |offset| < 2^29; the bounds
 * are within int8. */
EDGEC_INLINE int8_t edgec_requantize_offset_s8(int32_t acc, int32_t multiplier, int32_t offset,
                                               int32_t shift, int32_t act_min, int32_t act_max) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    int32_t high;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(high) : "r"(acc), "r"(multiplier), "r"(offset));
#else
    const int32_t high = edgec_high_product(acc, multiplier, INT32_C(1) << 15) + offset;
#endif
    return edgec_shifted_s8(high, shift, act_min, act_max);
}

/* clamp(zero point + scaled_twice(acc, multiplier, -shift)) of TwoRoundings31 in
 * ir/qops/tflite_forms.py, where |acc| < 2^30, the multiplier is 0 or in [2^30, 2^31) and shift in
 * [1, 22]. offset = zero point * 2^shift + 2^(shift-1).
 *
 * Halves of negative products are rounded down, which is the same as an offset that is less by 1.
 * The accumulator tells the sign of the product; they differ at acc = -1 and the multiplier 2^30
 * alone, whose product is rounded to 0, and then both offsets give the zero point. */
EDGEC_INLINE int32_t edgec_requantize_twice_high(int32_t acc, int32_t multiplier, int32_t offset) {
    const int32_t start = offset + (acc >> 31);
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    int32_t high;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(high) : "r"(2 * acc), "r"(multiplier), "r"(start));
#else
    const int32_t high = edgec_high_product(2 * acc, multiplier, INT32_C(1) << 15) + start;
#endif
    return high;
}

EDGEC_INLINE int8_t edgec_requantize_twice_s8(int32_t acc, int32_t multiplier, int32_t offset,
                                              int32_t shift, int32_t act_min, int32_t act_max) {
    const int32_t high = edgec_requantize_twice_high(acc, multiplier, offset);
    return edgec_shifted_s8(high, shift, act_min, act_max);
}

/* The same with bounds within int16. */
EDGEC_INLINE int16_t edgec_requantize_twice_s16(int32_t acc, int32_t multiplier, int32_t offset,
                                                int32_t shift, int32_t low, int32_t high) {
    const int32_t code = edgec_requantize_twice_high(acc, multiplier, offset) >> shift;
    return (int16_t)edgec_clamp_s32(code, low, high);
}

/* x, or the nearest number within +-(2^31 - 1). */
EDGEC_INLINE int32_t edgec_saturated_s32(int64_t x) {
    const int64_t floored = (x < -INT32_MAX) ? -INT32_MAX : x;
    return (int32_t)((floored > INT32_MAX) ? INT32_MAX : floored);
}

/* scaled_twice(x, multiplier, shift): 0 <= multiplier < 2^31, shift in [-31, 30] to the left, and
 * x * 2^shift fits int32. */
EDGEC_INLINE int32_t edgec_scaled_twice(int32_t x, int32_t multiplier, int32_t shift) {
    const int32_t left = edgec_max_s32(shift, 0);
    const int32_t right = edgec_max_s32(-shift, 0);
    const int64_t high = edgec_high31(x * ((int32_t)1 << left), multiplier);
    const int64_t half = ((int64_t)1 << right) >> 1;
    /* Without a right shift there is no half, and nothing to round. */
    const int64_t away = (high < 0 && right > 0) ? 1 : 0;
    return (int32_t)((high + half - away) >> right);
}

/* clamp(zero_point + scaled_twice(acc, multiplier, shift)): TwoRoundings31 with any of its
 * numbers. */
EDGEC_INLINE int8_t edgec_requantize_twice_any_s8(int32_t acc, int32_t multiplier,
                                                  int32_t zero_point, int32_t shift,
                                                  int32_t act_min, int32_t act_max) {
    const int32_t scaled = edgec_scaled_twice(acc, multiplier, shift);
    const int32_t near = edgec_clamp_s32(scaled, -EDGEC_REQUANTIZE_LIMIT, EDGEC_REQUANTIZE_LIMIT);
    return edgec_clamp_s8(zero_point + near, act_min, act_max);
}

/* The same with bounds within int16. */
EDGEC_INLINE int16_t edgec_requantize_twice_any_s16(int32_t acc, int32_t multiplier,
                                                    int32_t zero_point, int32_t shift, int32_t low,
                                                    int32_t high) {
    const int32_t scaled = edgec_scaled_twice(acc, multiplier, shift);
    const int32_t near = edgec_clamp_s32(scaled, -EDGEC_REQUANTIZE_LIMIT, EDGEC_REQUANTIZE_LIMIT);
    return (int16_t)edgec_clamp_s32(zero_point + near, low, high);
}

/* The same with the shift in two parts. */
EDGEC_INLINE int16_t edgec_twice_any_s16(int32_t acc, int32_t multiplier, int32_t left,
                                         int32_t right, int32_t zero_point, int32_t low,
                                         int32_t high) {
    return edgec_requantize_twice_any_s16(acc, multiplier, zero_point, left - right, low, high);
}

/* The same with bounds within int8. */
EDGEC_INLINE int8_t edgec_twice_any_s8(int32_t acc, int32_t multiplier, int32_t left, int32_t right,
                                       int32_t zero_point, int32_t low, int32_t high) {
    return edgec_requantize_twice_any_s8(acc, multiplier, zero_point, left - right, low, high);
}

#ifdef __cplusplus
}
#endif

#endif
