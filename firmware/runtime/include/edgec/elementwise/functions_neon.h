/* functions.h for eight elements at a time, with NEON.
 *
 * The elements are codes of int8 or int16 in lanes of 16 bits, and so is the result; all else, and
 * the arithmetic, is that of the function of one element of the same name.  Zero points of int16
 * are 0.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_FUNCTIONS_NEON_H
#define EDGEC_ELEMENTWISE_FUNCTIONS_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/arithmetic/params.h"
#include "edgec/elementwise/table_s8_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Eight numbers of 32 bits, or of lanes that were 16 bits wide. */
typedef struct edgec_eight_s32 {
    int32x4_t low;
    int32x4_t high;
} edgec_eight_s32_t;

EDGEC_INLINE edgec_eight_s32_t edgec_eight_wide(int16x8_t x) {
    return (edgec_eight_s32_t){vmovl_s16(vget_low_s16(x)), vmovl_s16(vget_high_s16(x))};
}

EDGEC_INLINE edgec_eight_s32_t edgec_eight_products(int16x8_t a, int16x8_t b) {
    return (edgec_eight_s32_t){vmull_s16(vget_low_s16(a), vget_low_s16(b)),
                               vmull_s16(vget_high_s16(a), vget_high_s16(b))};
}

/* Lanes limited to [low, high], codes of int8 or int16. */
EDGEC_INLINE int16x8_t edgec_eight_limited(int16x8_t x, int32_t low, int32_t high) {
    if (low == INT16_MIN && high == INT16_MAX) {
        return x;
    }
    return vminq_s16(vmaxq_s16(x, vdupq_n_s16((int16_t)low)), vdupq_n_s16((int16_t)high));
}

/* clamp(zero_point + x): a number that does not fit 16 bits is beyond the bounds in any case. */
EDGEC_INLINE int16x8_t edgec_eight_codes(edgec_eight_s32_t x, int32_t zero_point, int32_t low,
                                         int32_t high) {
    const int16x8_t narrow = vcombine_s16(vqmovn_s32(x.low), vqmovn_s32(x.high));
    const int16x8_t moved = vqaddq_s16(narrow, vdupq_n_s16((int16_t)zero_point));
    return edgec_eight_limited(moved, low, high);
}

/* rshr(x, shift): shift in [0, 31]. */
EDGEC_INLINE edgec_eight_s32_t edgec_eight_rshr(edgec_eight_s32_t x, int32_t shift) {
    if (shift == 0) {
        return x;
    }
    const int32x4_t right = vdupq_n_s32(-shift);
    return (edgec_eight_s32_t){vrshlq_s32(x.low, right), vrshlq_s32(x.high, right)};
}

/* Four of rshr(x * multiplier, shift), saturated to int32: shift in [1, 31]. */
EDGEC_INLINE int32x4_t edgec_eight_requantized_near(int32x4_t x, int32_t multiplier,
                                                    int32_t shift) {
    const int64x2_t right = vdupq_n_s64(-shift);
    const int64x2_t low = vmull_n_s32(vget_low_s32(x), multiplier);
    const int64x2_t high = vmull_n_s32(vget_high_s32(x), multiplier);
    return vcombine_s32(vqmovn_s64(vrshlq_s64(low, right)), vqmovn_s64(vrshlq_s64(high, right)));
}

/* edgec_requantize_code: VQDMULH gives the product shifted by 31, rounded down, and rounding down
 * twice is rounding down once.  Multipliers are above -2^31, so that it never saturates. */
EDGEC_INLINE int16x8_t edgec_eight_requantized(edgec_eight_s32_t x, int32_t multiplier,
                                               int32_t shift, int32_t zero_point, int32_t low,
                                               int32_t high) {
    edgec_eight_s32_t scaled;
    if (shift >= 32) {
        scaled.low = vqdmulhq_n_s32(x.low, multiplier);
        scaled.high = vqdmulhq_n_s32(x.high, multiplier);
        scaled = edgec_eight_rshr(scaled, shift - 31);
    } else {
        scaled.low = edgec_eight_requantized_near(x.low, multiplier, shift);
        scaled.high = edgec_eight_requantized_near(x.high, multiplier, shift);
    }
    return edgec_eight_codes(scaled, zero_point, low, high);
}

/* edgec_twice and edgec_scaled_twice of tflite.h: halves of the shift to the right round away from
 * zero.  VQRDMULH saturates for no multiplier of theirs. */
EDGEC_INLINE int32x4_t edgec_eight_s32_twice_of(int32x4_t x, int32_t multiplier, int32_t left,
                                                int32_t right) {
    const int32x4_t high = vqrdmulhq_n_s32(vshlq_s32(x, vdupq_n_s32(left)), multiplier);
    if (right == 0) {
        return high;
    }
    return vrshlq_s32(vsraq_n_s32(high, high, 31), vdupq_n_s32(-right));
}

EDGEC_INLINE edgec_eight_s32_t edgec_eight_scaled_twice(edgec_eight_s32_t x, int32_t multiplier,
                                                        int32_t left, int32_t right) {
    return (edgec_eight_s32_t){edgec_eight_s32_twice_of(x.low, multiplier, left, right),
                               edgec_eight_s32_twice_of(x.high, multiplier, left, right)};
}

/* edgec_rescale of rescale16.h: the half step of the first shift is in the bias. */
EDGEC_INLINE int16x8_t edgec_eight_rescaled16(edgec_eight_s32_t x, int32_t multiplier,
                                              int32_t pre_shift, int32_t shift, int32_t low,
                                              int32_t high) {
    const int32x4_t right = vdupq_n_s32(-pre_shift);
    const int16x4_t factor = vdup_n_s16((int16_t)multiplier);
    const edgec_eight_s32_t products = {vmull_s16(vqmovn_s32(vshlq_s32(x.low, right)), factor),
                                        vmull_s16(vqmovn_s32(vshlq_s32(x.high, right)), factor)};
    return edgec_eight_codes(edgec_eight_rshr(products, shift), 0, low, high);
}

/* x + bias in 32 bits. */
EDGEC_INLINE edgec_eight_s32_t edgec_eight_moved(int16x8_t x, int32_t bias) {
    const int32x4_t start = vdupq_n_s32(bias);
    return (edgec_eight_s32_t){vaddw_s16(start, vget_low_s16(x)),
                               vaddw_s16(start, vget_high_s16(x))};
}

/* (a - za) * (b - zb): zero points of int8, or 0. */
EDGEC_INLINE edgec_eight_s32_t edgec_eight_centred(int16x8_t a, int16x8_t b, int32_t a_zero_point,
                                                   int32_t b_zero_point) {
    return edgec_eight_products(vsubq_s16(a, vdupq_n_s16((int16_t)a_zero_point)),
                                vsubq_s16(b, vdupq_n_s16((int16_t)b_zero_point)));
}

EDGEC_INLINE int16x8_t edgec_eight_add_once(int16x8_t a, int16x8_t b, const edgec_add_params_t *p,
                                            int32_t shift) {
    const int32x4_t constant =
        vdupq_n_s32(-(p->a_zero_point * p->a_multiplier + p->b_zero_point * p->b_multiplier));
    const edgec_eight_s32_t wide_a = edgec_eight_wide(a);
    const edgec_eight_s32_t wide_b = edgec_eight_wide(b);
    edgec_eight_s32_t sum = {vmlaq_n_s32(constant, wide_a.low, p->a_multiplier),
                             vmlaq_n_s32(constant, wide_a.high, p->a_multiplier)};
    sum.low = vmlaq_n_s32(sum.low, wide_b.low, p->b_multiplier);
    sum.high = vmlaq_n_s32(sum.high, wide_b.high, p->b_multiplier);
    return edgec_eight_codes(edgec_eight_rshr(sum, shift), p->y_zero_point, p->act_min, p->act_max);
}

/* A code less its zero point in fine steps: edgec_tflite_sum. */
EDGEC_INLINE edgec_eight_s32_t edgec_eight_fine(int16x8_t x, int32_t zero_point, int32_t multiplier,
                                                int32_t bits, int32_t right) {
    return edgec_eight_scaled_twice(edgec_eight_moved(x, -zero_point), multiplier, bits, right);
}

EDGEC_INLINE int16x8_t edgec_eight_add_twice(int16x8_t a, int16x8_t b,
                                             const edgec_tflite_sum_params_t *p, int32_t bits,
                                             int32_t a_right, int32_t b_right, int32_t right) {
    edgec_eight_s32_t sum = edgec_eight_fine(a, p->a_zero_point, p->a_multiplier, bits, a_right);
    const edgec_eight_s32_t other =
        edgec_eight_fine(b, p->b_zero_point, p->b_multiplier, bits, b_right);
    sum.low = vaddq_s32(sum.low, other.low);
    sum.high = vaddq_s32(sum.high, other.high);
    return edgec_eight_codes(edgec_eight_scaled_twice(sum, p->y_multiplier, 0, right),
                             p->y_zero_point, p->act_min, p->act_max);
}

EDGEC_INLINE int16x8_t edgec_eight_sub_twice(int16x8_t a, int16x8_t b,
                                             const edgec_tflite_sum_params_t *p, int32_t bits,
                                             int32_t a_right, int32_t b_right, int32_t right) {
    edgec_eight_s32_t sum = edgec_eight_fine(a, p->a_zero_point, p->a_multiplier, bits, a_right);
    const edgec_eight_s32_t other =
        edgec_eight_fine(b, p->b_zero_point, p->b_multiplier, bits, b_right);
    sum.low = vsubq_s32(sum.low, other.low);
    sum.high = vsubq_s32(sum.high, other.high);
    return edgec_eight_codes(edgec_eight_scaled_twice(sum, p->y_multiplier, 0, right),
                             p->y_zero_point, p->act_min, p->act_max);
}

EDGEC_INLINE int16x8_t edgec_eight_add_codes(int16x8_t a, int16x8_t b, int32_t low, int32_t high) {
    return edgec_eight_limited(vqaddq_s16(a, b), low, high);
}

EDGEC_INLINE int16x8_t edgec_eight_mul_once(int16x8_t a, int16x8_t b, const edgec_mul_params_t *p,
                                            int32_t shift) {
    return edgec_eight_requantized(edgec_eight_centred(a, b, p->a_zero_point, p->b_zero_point),
                                   p->multiplier, shift, p->y_zero_point, p->act_min, p->act_max);
}

EDGEC_INLINE int16x8_t edgec_eight_mul_once_centred(int16x8_t a, int16x8_t b,
                                                    const edgec_mul_params_t *p, int32_t shift) {
    return edgec_eight_requantized(edgec_eight_products(a, b), p->multiplier, shift, 0, p->act_min,
                                   p->act_max);
}

EDGEC_INLINE int16x8_t edgec_eight_mul_twice(int16x8_t a, int16x8_t b, const edgec_mul_params_t *p,
                                             int32_t left, int32_t right) {
    const edgec_eight_s32_t product = edgec_eight_centred(a, b, p->a_zero_point, p->b_zero_point);
    return edgec_eight_codes(edgec_eight_scaled_twice(product, p->multiplier, left, right),
                             p->y_zero_point, p->act_min, p->act_max);
}

/* Lanes hold whatever a product of int16 may be. */
EDGEC_INLINE int16x8_t edgec_eight_mul_twice_any(int16x8_t a, int16x8_t b,
                                                 const edgec_mul_params_t *p, int32_t left,
                                                 int32_t right) {
    return edgec_eight_mul_twice(a, b, p, left, right);
}

EDGEC_INLINE int16x8_t edgec_eight_mul_rescale16(int16x8_t a, int16x8_t b,
                                                 const edgec_single_params_t *p, int32_t pre_shift,
                                                 int32_t shift, int32_t low, int32_t high) {
    edgec_eight_s32_t product = edgec_eight_centred(a, b, p->a_zero_point, p->b_zero_point);
    product.low = vaddq_s32(product.low, vdupq_n_s32(p->bias));
    product.high = vaddq_s32(product.high, vdupq_n_s32(p->bias));
    return edgec_eight_rescaled16(product, p->multiplier, pre_shift, shift, low, high);
}

EDGEC_INLINE int16x8_t edgec_eight_max_s32(int16x8_t a, int16x8_t b) {
    return vmaxq_s16(a, b);
}

EDGEC_INLINE int16x8_t edgec_eight_min_s32(int16x8_t a, int16x8_t b) {
    return vminq_s16(a, b);
}

EDGEC_INLINE int16x8_t edgec_eight_entry(int16x8_t x, const edgec_neon_table_t *table) {
    return edgec_neon_lut8(table, x);
}

/* Two neighbouring entries are one word of memory; the words of eight elements are taken apart. */
EDGEC_INLINE int16x8_t edgec_eight_line_inside(int16x8_t x, const int16_t *table, int32_t shift,
                                               int32_t zero_point) {
    const int16_t *const middle = table + 256;
    const int16x8_t step = vshrq_n_s16(x, 7);
    uint32x4_t low = vdupq_n_u32(edgec_word_at(middle + vgetq_lane_s16(step, 0)));
    low = vsetq_lane_u32(edgec_word_at(middle + vgetq_lane_s16(step, 1)), low, 1);
    low = vsetq_lane_u32(edgec_word_at(middle + vgetq_lane_s16(step, 2)), low, 2);
    low = vsetq_lane_u32(edgec_word_at(middle + vgetq_lane_s16(step, 3)), low, 3);
    uint32x4_t high = vdupq_n_u32(edgec_word_at(middle + vgetq_lane_s16(step, 4)));
    high = vsetq_lane_u32(edgec_word_at(middle + vgetq_lane_s16(step, 5)), high, 1);
    high = vsetq_lane_u32(edgec_word_at(middle + vgetq_lane_s16(step, 6)), high, 2);
    high = vsetq_lane_u32(edgec_word_at(middle + vgetq_lane_s16(step, 7)), high, 3);
    const int16x8x2_t ends = vuzpq_s16(vreinterpretq_s16_u32(low), vreinterpretq_s16_u32(high));
    const int16x8_t part = vandq_s16(x, vdupq_n_s16(127));
    edgec_eight_s32_t line = edgec_eight_products(ends.val[0], vsubq_s16(vdupq_n_s16(128), part));
    line.low = vmlal_s16(line.low, vget_low_s16(ends.val[1]), vget_low_s16(part));
    line.high = vmlal_s16(line.high, vget_high_s16(ends.val[1]), vget_high_s16(part));
    return edgec_eight_codes(edgec_eight_rshr(line, shift), zero_point, INT16_MIN, INT16_MAX);
}

EDGEC_INLINE int16x8_t edgec_eight_line(int16x8_t x, const int16_t *table, int32_t shift,
                                        int32_t zero_point, int32_t low, int32_t high) {
    return edgec_eight_limited(edgec_eight_line_inside(x, table, shift, zero_point), low, high);
}

EDGEC_INLINE int16x8_t edgec_eight_near_line(int16x8_t x, const int16_t *table, int32_t near,
                                             int32_t shift, int32_t zero_point, int32_t low,
                                             int32_t high) {
    const int16x8_t most = vqshlq_s16(x, vdupq_n_s16((int16_t)near));
    return edgec_eight_line(most, table, shift, zero_point, low, high);
}

EDGEC_INLINE int16x8_t edgec_eight_scale_rescale16(int16x8_t x, const edgec_single_params_t *p,
                                                   int32_t pre_shift, int32_t shift, int32_t low,
                                                   int32_t high) {
    return edgec_eight_rescaled16(edgec_eight_moved(x, p->bias), p->multiplier, pre_shift, shift,
                                  low, high);
}

EDGEC_INLINE int16x8_t edgec_eight_scale_once(int16x8_t x, int32_t bias, int32_t multiplier,
                                              int32_t shift, int32_t zero_point, int32_t low,
                                              int32_t high) {
    return edgec_eight_requantized(edgec_eight_moved(x, bias), multiplier, shift, zero_point, low,
                                   high);
}

EDGEC_INLINE int16x8_t edgec_eight_scale_twice(int16x8_t x, int32_t bias, int32_t multiplier,
                                               int32_t left, int32_t right, int32_t zero_point,
                                               int32_t low, int32_t high) {
    const edgec_eight_s32_t moved = edgec_eight_moved(x, bias);
    return edgec_eight_codes(edgec_eight_scaled_twice(moved, multiplier, left, right), zero_point,
                             low, high);
}

EDGEC_INLINE int16x8_t edgec_eight_scale_twice_any(int16x8_t x, int32_t bias, int32_t multiplier,
                                                   int32_t left, int32_t right, int32_t zero_point,
                                                   int32_t low, int32_t high) {
    return edgec_eight_scale_twice(x, bias, multiplier, left, right, zero_point, low, high);
}

#ifdef __cplusplus
}
#endif

#endif

#endif
