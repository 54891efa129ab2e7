/* LayerNormalization and RMSNormalization with NEON: eight elements at a time.
 *
 * The steps and the numbers of a row are those of norm.h, which also serves the elements after the
 * last eight.  Only kernels for cores with NEON use these functions; there is no other C form.
 */
#ifndef EDGEC_NORM_NORM_NEON_H
#define EDGEC_NORM_NORM_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/norm/norm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two halves of eight elements in 32 bits. */
typedef struct edgec_neon_wide {
    int32x4_t low;
    int32x4_t high;
} edgec_neon_wide_t;

/* w of eight elements; the factor, at most 32767, fits an int16. */
EDGEC_INLINE edgec_neon_wide_t edgec_neon_norm_w(const edgec_s16_t *x, int32x4_t offset,
                                                 int16_t factor) {
    const int16x8_t eight = vld1q_s16(x);
    const edgec_neon_wide_t w = {
        vmlal_n_s16(offset, vget_low_s16(eight), factor),
#if defined(__aarch64__)
        vmlal_high_n_s16(offset, eight, factor),
#else
        vmlal_n_s16(offset, vget_high_s16(eight), factor),
#endif
    };
    return w;
}

/* The sum and the extremes of `count` elements. */
EDGEC_INLINE edgec_norm_sums_t edgec_neon_norm_sums(const edgec_s16_t *x, int32_t count) {
    int32x4_t total = vdupq_n_s32(0);
    int16x8_t least = vdupq_n_s16(INT16_MAX);
    int16x8_t greatest = vdupq_n_s16(INT16_MIN);
    for (; count >= 8; count -= 8, x += 8) {
        const int16x8_t eight = vld1q_s16(x);
        total = vpadalq_s16(total, eight);
        least = vminq_s16(least, eight);
        greatest = vmaxq_s16(greatest, eight);
    }
    edgec_norm_sums_t sums;
#if defined(__aarch64__)
    sums.total = vaddvq_s32(total);
    sums.least = vminvq_s16(least);
    sums.greatest = vmaxvq_s16(greatest);
#else
    const int32x2_t half = vadd_s32(vget_low_s32(total), vget_high_s32(total));
    int16x4_t low = vmin_s16(vget_low_s16(least), vget_high_s16(least));
    int16x4_t high = vmax_s16(vget_low_s16(greatest), vget_high_s16(greatest));
    low = vpmin_s16(low, low);
    high = vpmax_s16(high, high);
    sums.total = vget_lane_s32(vpadd_s32(half, half), 0);
    sums.least = vget_lane_s16(vpmin_s16(low, low), 0);
    sums.greatest = vget_lane_s16(vpmax_s16(high, high), 0);
#endif
    for (; count > 0; count--, x++) {
        sums.total += x[0];
        sums.least = edgec_min_s32(sums.least, x[0]);
        sums.greatest = edgec_max_s32(sums.greatest, x[0]);
    }
    return sums;
}

/* The sum of rshr(w, p)^2. */
EDGEC_INLINE int32_t edgec_neon_norm_squares(const edgec_s16_t *x, int32_t count,
                                             edgec_norm_line_t w, int32_t p) {
    const int32x4_t offset = vdupq_n_s32(w.offset);
    const int32x4_t shift = vdupq_n_s32(-p);
    int32x4_t sum = vdupq_n_s32(0);
    for (; count >= 8; count -= 8, x += 8) {
        const edgec_neon_wide_t wide = edgec_neon_norm_w(x, offset, (int16_t)w.factor);
        const int32x4_t low = vrshlq_s32(wide.low, shift);
        const int32x4_t high = vrshlq_s32(wide.high, shift);
        sum = vmlaq_s32(vmlaq_s32(sum, low, low), high, high);
    }
#if defined(__aarch64__)
    int32_t total = vaddvq_s32(sum);
#else
    const int32x2_t half = vadd_s32(vget_low_s32(sum), vget_high_s32(sum));
    int32_t total = vget_lane_s32(vpadd_s32(half, half), 0);
#endif
    for (; count > 0; count--, x++) {
        total = edgec_add_square(edgec_rshr32(w.factor * x[0] + w.offset, p), total);
    }
    return total;
}

/* Numbers common to all elements of a row. */
typedef struct edgec_neon_norm {
    int32x4_t offset;
    int32x4_t q;
    int32x4_t reciprocal;
    int32x4_t half;
    int32x4_t s;
    int32x4_t shift;
    int16_t factor;
} edgec_neon_norm_t;

EDGEC_INLINE edgec_neon_norm_t edgec_neon_norm(edgec_norm_line_t w, edgec_norm_row_t row,
                                               int32_t shift) {
    const edgec_neon_norm_t steps = {
        vdupq_n_s32(w.offset), vdupq_n_s32(-row.q), vdupq_n_s32(row.reciprocal),
        vdupq_n_s32(row.half), vdupq_n_s32(-row.s), vdupq_n_s32(-shift),
        (int16_t)w.factor,
    };
    return steps;
}

/* (u * gamma + beta) >> shift of four elements from their w, limited to int16. */
EDGEC_INLINE int16x4_t edgec_neon_norm_four(int32x4_t w, const edgec_neon_norm_t *steps,
                                            int16x4_t gamma, const int32_t *beta) {
    const int32x4_t v = vshlq_s32(w, steps->q);
    const int32x4_t u = vshlq_s32(vmlaq_s32(steps->half, v, steps->reciprocal), steps->s);
    const int32x4_t y = vmlaq_s32(vld1q_s32(beta), u, vmovl_s16(gamma));
    return vqmovn_s32(vshlq_s32(y, steps->shift));
}

/* Eight elements of y before the bounds, which are within int16. */
EDGEC_INLINE int16x8_t edgec_neon_norm_eight(const edgec_s16_t *x, const int16_t *gamma,
                                             const int32_t *beta, const edgec_neon_norm_t *steps) {
    const edgec_neon_wide_t w = edgec_neon_norm_w(x, steps->offset, steps->factor);
    const int16x8_t factors = vld1q_s16(gamma);
    return vcombine_s16(edgec_neon_norm_four(w.low, steps, vget_low_s16(factors), beta),
                        edgec_neon_norm_four(w.high, steps, vget_high_s16(factors), beta + 4));
}

#ifdef __cplusplus
}
#endif

#endif
#endif
