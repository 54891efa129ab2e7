/* Requantization by a 31-bit multiplier and additions of int8 with NEON, as math.h defines them.
 *
 * Only kernels for cores with NEON use these functions; there is no C form.
 */
#ifndef EDGEC_ARITHMETIC_REQUANT_NEON_H
#define EDGEC_ARITHMETIC_REQUANT_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The products of two of four lanes in 64 bits. */
#define EDGEC_NEON_LONG_LOW(A, B) vmull_s32(vget_low_s32(A), vget_low_s32(B))
#define EDGEC_NEON_LONG_HIGH(A, B) vmull_s32(vget_high_s32(A), vget_high_s32(B))

/* rshr(sum * multiplier, SHIFT) of four sums: SHIFT is a literal, 32 to 62.  VQDMULH gives the
 * product shifted by 31, rounded down; what is left of the half step and of the shift comes after
 * that, and rounding down twice is rounding down once.  Multipliers are above -2^31, so that it
 * never saturates. */
#define EDGEC_NEON_REQUANTIZE(SUM, MULTIPLIER, SHIFT)                                              \
    vrshrq_n_s32(vqdmulhq_s32(SUM, MULTIPLIER), (SHIFT) - 31)
/* The same for 1 to 31, saturated to int32, which no clamp to int8 can tell from the exact value.
 */
#define EDGEC_NEON_REQUANTIZE_NEAR(SUM, MULTIPLIER, SHIFT)                                         \
    vcombine_s32(vqrshrn_n_s64(EDGEC_NEON_LONG_LOW(SUM, MULTIPLIER), SHIFT),                       \
                 vqrshrn_n_s64(EDGEC_NEON_LONG_HIGH(SUM, MULTIPLIER), SHIFT))

/* Twice an offset of edgec_requantize_offset_s8, and its half step: added to the doubled high word
 * of a product, which VQDMULH gives, and shifted by one more.  A sum that is saturated is far
 * beyond the int16 to which that shift, by 16 at most, narrows. */
EDGEC_INLINE int32x4_t edgec_neon_doubled(int32x4_t offset) {
    return vaddq_s32(vaddq_s32(offset, offset), vdupq_n_s32(1));
}

/* Four codes before the bounds, as edgec_requantize_offset_s8, edgec_requantize_twice_s8 and
 * edgec_requantize_twice_any_s8 of tflite.h make one; those of the second one without zero point,
 * and `right` is minus the shift: what is half a step rounds away from zero, so that 1 less comes
 * to a negative sum. */
EDGEC_INLINE int32x4_t edgec_neon_offset(int32x4_t sum, int32x4_t multiplier, int32x4_t offset,
                                         int32_t shift) {
    const int32x4_t high = EDGEC_NEON_REQUANTIZE(sum, multiplier, 32);
    return vshlq_s32(vaddq_s32(high, offset), vdupq_n_s32(-shift));
}
EDGEC_INLINE int32x4_t edgec_neon_twice(int32x4_t sum, int32x4_t multiplier, int32x4_t right) {
    return vrshlq_s32(vsraq_n_s32(vqrdmulhq_s32(sum, multiplier), sum, 31), right);
}
EDGEC_INLINE int32x4_t edgec_neon_twice_any(int32x4_t sum, int32x4_t multiplier,
                                            int32x4_t zero_point, int32x4_t shift) {
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t right = vminq_s32(shift, zero);
    const int32x4_t high = vqrdmulhq_s32(vshlq_s32(sum, vmaxq_s32(shift, zero)), multiplier);
    const int32x4_t negative = vshrq_n_s32(high, 31);
    const int32x4_t shifts = vreinterpretq_s32_u32(vcltq_s32(right, zero));
    const int32x4_t away = vandq_s32(negative, shifts);
    return vqaddq_s32(vrshlq_s32(vqaddq_s32(high, away), right), zero_point);
}

/* Four codes before the bounds, as edgec_tflite_s16_end makes one of a sum of 32 bits, saturated to
 * int32. */
EDGEC_INLINE int32x4_t edgec_neon_once(int32x4_t sum, int32x4_t multiplier, int32x4_t shift) {
    const int32x4_t right = vnegq_s32(shift);
    const int64x2_t low = EDGEC_NEON_LONG_LOW(sum, multiplier);
    const int64x2_t high = EDGEC_NEON_LONG_HIGH(sum, multiplier);
    return vcombine_s32(vqmovn_s64(vrshlq_s64(low, vmovl_s32(vget_low_s32(right)))),
                        vqmovn_s64(vrshlq_s64(high, vmovl_s32(vget_high_s32(right)))));
}

/* Four neighbouring int8. */
EDGEC_INLINE int32x4_t edgec_neon_four_s8(const int8_t *from) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    const int8x8_t bytes = vreinterpret_s8_u32(vdup_n_u32(word));
    return vmovl_s16(vget_low_s16(vmovl_s8(bytes)));
}

/* Four neighbouring int8, and four others. */
EDGEC_INLINE int8x8_t edgec_neon_two_fours(const int8_t *low, const int8_t *high) {
    uint32_t words[2];
    memcpy(&words[0], low, sizeof words[0]);
    memcpy(&words[1], high, sizeof words[1]);
    return vreinterpret_s8_u32(vset_lane_u32(words[1], vdup_n_u32(words[0]), 1));
}

#ifdef __cplusplus
}
#endif

#endif
#endif
