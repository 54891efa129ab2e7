/* The functions of one element of each tensor that element-wise kernels are made of, by operator
 * and form: edgec/ir/qops in C.
 *
 * `edgec_add_once` of math.h is one of them.
 *
 * They take the elements, then the struct of numbers that differ between layers, then the numbers
 * that are compiled in.  The result is a code of the output, int8 or int16.
 */
#ifndef EDGEC_ELEMENTWISE_FUNCTIONS_H
#define EDGEC_ELEMENTWISE_FUNCTIONS_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/arithmetic/params.h"
#include "edgec/arithmetic/rescale16.h"
#include "edgec/arithmetic/tflite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A code less its zero point in steps of 2^-bits: TfliteSumNumbers of ir/qops/arithmetic.py. */
EDGEC_INLINE int32_t edgec_tflite_sum(int32_t distance, int32_t multiplier, int32_t bits,
                                      int32_t right) {
#if EDGEC_HALF_PRODUCTS
    if (bits == 15) {
        /* 16 bits by 31: as in edgec_tflite_sum20, the low half alone meets what is rounded. */
        const int32_t low = distance * (multiplier & 0xFFFF);
        return edgec_rshr_away(distance * (multiplier >> 16) + edgec_rshr32(low, 16), right);
    }
#endif
    return (bits == 20) ? edgec_tflite_sum20(distance, multiplier, right)
                        : edgec_twice(distance, multiplier, bits, right);
}

/* TfliteSum of ir/qops/add.py: two roundings of each operand and of the sum. */
EDGEC_INLINE int32_t edgec_add_twice(int32_t a, int32_t b, const edgec_tflite_sum_params_t *p,
                                     int32_t bits, int32_t a_right, int32_t b_right,
                                     int32_t right) {
    const int32_t fine_a = edgec_tflite_sum(a - p->a_zero_point, p->a_multiplier, bits, a_right);
    const int32_t fine_b = edgec_tflite_sum(b - p->b_zero_point, p->b_multiplier, bits, b_right);
    const int32_t scaled = edgec_twice(fine_a + fine_b, p->y_multiplier, 0, right);
    return edgec_code(p->y_zero_point + scaled, p->act_min, p->act_max);
}

EDGEC_INLINE int32_t edgec_sub_twice(int32_t a, int32_t b, const edgec_tflite_sum_params_t *p,
                                     int32_t bits, int32_t a_right, int32_t b_right,
                                     int32_t right) {
    const int32_t fine_a = edgec_tflite_sum(a - p->a_zero_point, p->a_multiplier, bits, a_right);
    const int32_t fine_b = edgec_tflite_sum(b - p->b_zero_point, p->b_multiplier, bits, b_right);
    const int32_t scaled = edgec_twice(fine_a - fine_b, p->y_multiplier, 0, right);
    return edgec_code(p->y_zero_point + scaled, p->act_min, p->act_max);
}

/* CodeSum of ir/qops/add.py: operands and sum have one scale. */
EDGEC_INLINE int32_t edgec_add_codes(int32_t a, int32_t b, int32_t low, int32_t high) {
    return edgec_limit(a + b, low, high);
}

/* QMul of ir/qops/binary.py by one rounding, by two, and by 16 by 15 bits.  The product of two
 * int16 may be 2^30, which only the second of the functions with two roundings takes. */
EDGEC_INLINE int32_t edgec_mul_once(int32_t a, int32_t b, const edgec_mul_params_t *p,
                                    int32_t shift) {
    const int32_t product = (a - p->a_zero_point) * (b - p->b_zero_point);
    return edgec_requantize_code(product, p->multiplier, shift, p->y_zero_point, p->act_min,
                                 p->act_max);
}

/* The first of them where all zero points are 0. */
EDGEC_INLINE int32_t edgec_mul_once_centred(int32_t a, int32_t b, const edgec_mul_params_t *p,
                                            int32_t shift) {
    return edgec_clamp_s32(edgec_requantize(a * b, p->multiplier, shift), p->act_min, p->act_max);
}

EDGEC_INLINE int32_t edgec_mul_twice(int32_t a, int32_t b, const edgec_mul_params_t *p,
                                     int32_t left, int32_t right) {
    const int32_t product = (a - p->a_zero_point) * (b - p->b_zero_point);
    const int32_t scaled = edgec_twice(product, p->multiplier, left, right);
    return edgec_code(p->y_zero_point + scaled, p->act_min, p->act_max);
}

EDGEC_INLINE int32_t edgec_mul_twice_any(int32_t a, int32_t b, const edgec_mul_params_t *p,
                                         int32_t left, int32_t right) {
    const int32_t product = (a - p->a_zero_point) * (b - p->b_zero_point);
    const int32_t scaled = edgec_scaled_twice(product, p->multiplier, left - right);
    return edgec_code(p->y_zero_point + scaled, p->act_min, p->act_max);
}

EDGEC_INLINE int32_t edgec_mul_rescale16(int32_t a, int32_t b, const edgec_single_params_t *p,
                                         int32_t pre_shift, int32_t shift, int32_t low,
                                         int32_t high) {
    const int32_t product = (a - p->a_zero_point) * (b - p->b_zero_point);
    const int32_t scaled = edgec_rescale(product + p->bias, p->multiplier, pre_shift, shift);
    return edgec_limit(scaled, low, high);
}

/* QSquaredDifference: two roundings of each operand and of the square.  In steps of 1, those of
 * int16, the square may be 2^30. */
EDGEC_INLINE int32_t edgec_squared_difference(int32_t a, int32_t b,
                                              const edgec_tflite_sum_params_t *p, int32_t bits,
                                              int32_t a_right, int32_t b_right, int32_t right) {
    const int32_t difference =
        edgec_tflite_sum(a - p->a_zero_point, p->a_multiplier, bits, a_right) -
        edgec_tflite_sum(b - p->b_zero_point, p->b_multiplier, bits, b_right);
    const int32_t square = difference * difference;
    const int32_t scaled = (bits > 0) ? edgec_twice(square, p->y_multiplier, 0, right)
                                      : edgec_scaled_twice(square, p->y_multiplier, -right);
    return edgec_code(p->y_zero_point + scaled, p->act_min, p->act_max);
}

/* The quotient of a by b times multiplier * 2^left / 2^right, rounded once, halves away from zero,
 * within 16 bits and a sign.  By zero: the most, or 0.  QDiv of ir/qops/binary.py bounds all of
 * it. */
EDGEC_INLINE int32_t edgec_divided(int32_t a, int32_t b, int32_t multiplier, int32_t left,
                                   int32_t right) {
    const uint32_t most = UINT16_MAX;
    const uint32_t dividend = (uint32_t)((a < 0) ? -a : a) * (uint32_t)multiplier;
    const uint32_t divisor = (uint32_t)((b < 0) ? -b : b) << right;
    uint32_t steps = (a == 0) ? 0U : most;
    if (divisor != 0U) {
        if (left == 0) {
            steps = (dividend + divisor / 2U) / divisor;
            steps = (steps > most) ? most : steps;
        } else if (dividend / divisor <= most >> left) {
            const uint32_t whole = dividend / divisor;
            const uint32_t rest = dividend - whole * divisor;
            steps = (whole << left) + ((rest << left) + divisor / 2U) / divisor;
            steps = (steps > most) ? most : steps;
        }
    }
    return ((a < 0) != (b < 0)) ? -(int32_t)steps : (int32_t)steps;
}

/* QDiv: its code. */
EDGEC_INLINE int32_t edgec_div(int32_t a, int32_t b, int32_t a_zero_point, int32_t b_zero_point,
                               int32_t multiplier, int32_t left, int32_t right,
                               int32_t y_zero_point, int32_t low, int32_t high) {
    const int32_t steps =
        edgec_divided(a - a_zero_point, b - b_zero_point, multiplier, left, right);
    return edgec_clamp_s32(y_zero_point + steps, low, high);
}

/* QCompare of ir/qops/choice.py: 1 or 0. */
EDGEC_INLINE int32_t edgec_equal(int32_t a, int32_t b, int32_t a_multiplier, int32_t b_multiplier,
                                 int32_t offset) {
    return (a * a_multiplier == b * b_multiplier + offset) ? 1 : 0;
}

EDGEC_INLINE int32_t edgec_less(int32_t a, int32_t b, int32_t a_multiplier, int32_t b_multiplier,
                                int32_t offset) {
    return (a * a_multiplier < b * b_multiplier + offset) ? 1 : 0;
}

EDGEC_INLINE int32_t edgec_less_or_equal(int32_t a, int32_t b, int32_t a_multiplier,
                                         int32_t b_multiplier, int32_t offset) {
    return (a * a_multiplier <= b * b_multiplier + offset) ? 1 : 0;
}

/* QIsEqual and QWhere. */
EDGEC_INLINE int32_t edgec_is_equal(int32_t x, int32_t value) {
    return (x == value) ? 1 : 0;
}

EDGEC_INLINE int32_t edgec_where(int32_t condition, int32_t a, int32_t b) {
    return (condition != 0) ? a : b;
}

/* QPRelu of ir/qops/functions.py: the slope is a multiplier, or a code less its zero point. */
EDGEC_INLINE int32_t edgec_prelu_once(int32_t x, int32_t slope, const edgec_prelu_params_t *p,
                                      int32_t shift) {
    const int32_t value = x - p->x_zero_point;
    const int32_t multiplier = (value >= 0) ? p->multiplier : slope;
    return edgec_requantize_code(value, multiplier, shift, p->y_zero_point, p->act_min, p->act_max);
}

EDGEC_INLINE int32_t edgec_prelu_twice(int32_t x, int32_t slope, const edgec_prelu_params_t *p,
                                       int32_t left, int32_t right, int32_t below_left,
                                       int32_t below_right) {
    const int32_t value = x - p->x_zero_point;
    const int32_t scaled =
        (value >= 0) ? edgec_twice(value, p->multiplier, left, right)
                     : edgec_twice(value * slope, p->below_multiplier, below_left, below_right);
    return edgec_code(p->y_zero_point + scaled, p->act_min, p->act_max);
}

/* QLut of ir/qops/functions.py.  Entries: one for each int8 code. */
EDGEC_INLINE int32_t edgec_entry(int32_t x, const int8_t *table) {
    return table[x + 128];
}

/* Line: 513 entries over all int16 codes, straight lines between them; none beyond the bounds. */
EDGEC_INLINE int32_t edgec_line_inside(int32_t x, const int16_t *table, int32_t shift,
                                       int32_t zero_point) {
    const int16_t *const entry = table + 256 + (x >> 7);
    const int32_t part = x & 127;
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    const uint32_t parts = (uint32_t)(128 - part) | ((uint32_t)part << 16);
    return (edgec_pair_dot(edgec_word_at(entry), parts, 1 << (shift - 1)) >> shift) + zero_point;
#else
    const int32_t line = entry[0] * 128 + part * (entry[1] - entry[0]);
    return edgec_rshr32(line, shift) + zero_point;
#endif
}

/* The same with bounds. */
EDGEC_INLINE int32_t edgec_line(int32_t x, const int16_t *table, int32_t shift, int32_t zero_point,
                                int32_t low, int32_t high) {
    return edgec_clamp_s32(edgec_line_inside(x, table, shift, zero_point), low, high);
}

/* The same over the codes around 0, those 2^near times as far apart; others count as the last. */
EDGEC_INLINE int32_t edgec_near_line(int32_t x, const int16_t *table, int32_t near, int32_t shift,
                                     int32_t zero_point, int32_t low, int32_t high) {
    const int32_t most = edgec_clamp_s32(x * (1 << near), INT16_MIN, INT16_MAX);
    return edgec_line(most, table, shift, zero_point, low, high);
}

/* Logistic: a table of 256 entries, read at steps of 2^-12 / 3; in Q0.15. */
EDGEC_INLINE int32_t edgec_logistic(int32_t x, const uint16_t *table, int32_t multiplier,
                                    int32_t shift) {
    const int32_t scaled = edgec_rshr32(x * multiplier, shift);
    const uint32_t magnitude = (uint32_t)((scaled < 0) ? -scaled : scaled);
    const uint32_t step = magnitude >> 9;
    uint32_t result = (uint32_t)INT16_MAX << 10;
    if (step < 255U) {
        const uint32_t low = table[step];
        result = (low << 9) + (magnitude & 511U) * (table[step + 1U] - low);
    }
    const uint32_t rounded = (scaled >= 0) ? result + 512U : (UINT32_C(1) << 25) - result + 511U;
    return (int32_t)(rounded >> 10);
}

/* tanh of the same, by the same table. */
EDGEC_INLINE int32_t edgec_tanh(int32_t x, const uint16_t *table, int32_t multiplier,
                                int32_t shift) {
    const int32_t scaled = edgec_rshr32(x * multiplier, shift);
    const uint32_t magnitude = (uint32_t)((scaled < 0) ? -scaled : scaled);
    const uint32_t step = magnitude >> 8;
    int32_t result = 0xFFFF << 8;
    if (step < 255U) {
        const uint32_t low = table[step];
        result = (int32_t)((low << 8) + (magnitude & 255U) * (table[step + 1U] - low));
    }
    const int32_t distance = result - (INT32_C(1) << 23);
    return ((scaled >= 0) ? distance + 128 : 127 - distance) >> 8;
}

/* QRescale of ir/qops/functions.py by 16 by 15 bits, with a shift of the channel before or
 * after. */
EDGEC_INLINE int32_t edgec_scale_rescale16(int32_t x, const edgec_single_params_t *p,
                                           int32_t pre_shift, int32_t shift, int32_t low,
                                           int32_t high) {
    return edgec_limit(edgec_rescale(x + p->bias, p->multiplier, pre_shift, shift), low, high);
}

EDGEC_INLINE int32_t edgec_scale_before(int32_t x, int32_t k, const edgec_single_params_t *p,
                                        int32_t pre_shift, int32_t shift, int32_t low,
                                        int32_t high) {
    return edgec_scale_rescale16(x * ((int32_t)1 << k), p, pre_shift, shift, low, high);
}

EDGEC_INLINE int32_t edgec_scale_after(int32_t x, int32_t k, const edgec_single_params_t *p,
                                       int32_t pre_shift, int32_t shift, int32_t low,
                                       int32_t high) {
    return edgec_scale_rescale16(x, p, pre_shift, shift + k, low, high);
}

/* The same by one rounding of 31 bits, and by two; where |x + bias| * 2^left may be 2^30 or more,
 * by the last function. */
EDGEC_INLINE int32_t edgec_scale_once(int32_t x, int32_t bias, int32_t multiplier, int32_t shift,
                                      int32_t zero_point, int32_t low, int32_t high) {
    return edgec_requantize_code(x + bias, multiplier, shift, zero_point, low, high);
}

EDGEC_INLINE int32_t edgec_scale_twice(int32_t x, int32_t bias, int32_t multiplier, int32_t left,
                                       int32_t right, int32_t zero_point, int32_t low,
                                       int32_t high) {
    return edgec_code(zero_point + edgec_twice(x + bias, multiplier, left, right), low, high);
}

EDGEC_INLINE int32_t edgec_scale_twice_any(int32_t x, int32_t bias, int32_t multiplier,
                                           int32_t left, int32_t right, int32_t zero_point,
                                           int32_t low, int32_t high) {
    const int32_t scaled = edgec_scaled_twice(x + bias, multiplier, left - right);
    return edgec_code(zero_point + scaled, low, high);
}

#ifdef __cplusplus
}
#endif

#endif
