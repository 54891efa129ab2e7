/* Products of two matrices of int8 or int16 that are both computed, with NEON: four rows of a by
 * eight columns of b at a time.
 *
 * Lines of a matrix, rows of a or columns of b, are first copied less their zero point, four at a
 * time: the values of one depth of four lines lie together.  Depths are filled up with zeros to a
 * multiple of EDGEC_FOURS_DEPTH.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_DENSE_MATMUL_NEON_H
#define EDGEC_DENSE_MATMUL_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/elementwise/elements_neon.h"
#include "edgec/elementwise/functions_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EDGEC_FOURS_DEPTH 4

/* Four neighbouring elements. */
EDGEC_INLINE int16x4_t edgec_neon_load4_s8(const int8_t *x) {
    return vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(edgec_word_at(x)))));
}

EDGEC_INLINE int16x4_t edgec_neon_load4_s16(const edgec_s16_t *x) {
    return vld1_s16(x);
}

/* Four lines: `step` elements from one to the next, `along` from one depth to the next, one of them
 * 1; `from` is the first of `count` lines, 1 to 4, of which the last one stands for those that are
 * missing.  To 4 * `padded` int16. */
#define EDGEC_FOURS(NAME, TYPE, BITS)                                                              \
    EDGEC_SEPARATE void NAME(const TYPE *from, int32_t step, int32_t along, int32_t count,         \
                             int32_t depth, int32_t padded, int32_t zero_point, int16_t *to) {     \
        const TYPE *const line[4] = {from, from + edgec_min_s32(count - 1, 1) * step,              \
                                     from + edgec_min_s32(count - 1, 2) * step,                    \
                                     from + edgec_min_s32(count - 1, 3) * step};                   \
        const int16x8_t zero = vdupq_n_s16((int16_t)zero_point);                                   \
        int32_t d = 0;                                                                             \
        if (along == 1) {                                                                          \
            for (; d <= depth - 8; d += 8) {                                                       \
                const int16x8x4_t four = {                                                         \
                    {vsubq_s16(edgec_neon_load8_##BITS(line[0] + d), zero),                        \
                     vsubq_s16(edgec_neon_load8_##BITS(line[1] + d), zero),                        \
                     vsubq_s16(edgec_neon_load8_##BITS(line[2] + d), zero),                        \
                     vsubq_s16(edgec_neon_load8_##BITS(line[3] + d), zero)}};                      \
                vst4q_s16(to + 4 * d, four);                                                       \
            }                                                                                      \
        } else if (count == 4) {                                                                   \
            for (; d < depth; d++) {                                                               \
                const int16x4_t four = edgec_neon_load4_##BITS(from + d * along);                  \
                vst1_s16(to + 4 * d, vsub_s16(four, vget_low_s16(zero)));                          \
            }                                                                                      \
        }                                                                                          \
        for (; d < padded; d++) {                                                                  \
            for (int32_t n = 0; n < 4; n++) {                                                      \
                to[4 * d + n] = (int16_t)((d < depth) ? line[n][d * along] - zero_point : 0);      \
            }                                                                                      \
        }                                                                                          \
    }

EDGEC_FOURS(edgec_neon_fours_s8, int8_t, s8)
EDGEC_FOURS(edgec_neon_fours_s16, edgec_s16_t, s16)

/* The products of one depth: of four rows by four columns. */
#define EDGEC_FOURS_ADD(LOW_OR_HIGH, SIDE)                                                         \
    SIDE[0] = vmlal_lane_s16(SIDE[0], LOW_OR_HIGH(columns_##SIDE), LOW_OR_HIGH(rows), 0);          \
    SIDE[1] = vmlal_lane_s16(SIDE[1], LOW_OR_HIGH(columns_##SIDE), LOW_OR_HIGH(rows), 1);          \
    SIDE[2] = vmlal_lane_s16(SIDE[2], LOW_OR_HIGH(columns_##SIDE), LOW_OR_HIGH(rows), 2);          \
    SIDE[3] = vmlal_lane_s16(SIDE[3], LOW_OR_HIGH(columns_##SIDE), LOW_OR_HIGH(rows), 3);
/* Two depths, of all columns. */
#define EDGEC_FOURS_TWO(AT)                                                                        \
    {                                                                                              \
        const int16x8_t rows = vld1q_s16(a + (AT));                                                \
        const int16x8_t columns_low = vld1q_s16(b + (AT));                                         \
        const int16x8_t columns_high = vld1q_s16(b + 4 * depth + (AT));                            \
        EDGEC_FOURS_ADD(vget_low_s16, low)                                                         \
        EDGEC_FOURS_ADD(vget_low_s16, high)                                                        \
        EDGEC_FOURS_ADD(vget_high_s16, low)                                                        \
        EDGEC_FOURS_ADD(vget_high_s16, high)                                                       \
    }

/* sums[row] of four rows in a and two times four columns in b, one after the other. */
EDGEC_SEPARATE void edgec_neon_matmul(const int16_t *a, const int16_t *b, int32_t depth,
                                      int32_t start, edgec_eight_s32_t sums[4]) {
    const int32x4_t first = vdupq_n_s32(start);
    int32x4_t low[4] = {first, first, first, first};
    int32x4_t high[4] = {first, first, first, first};
    for (int32_t d = 0; d < 4 * depth; d += 4 * EDGEC_FOURS_DEPTH) {
        EDGEC_FOURS_TWO(d)
        EDGEC_FOURS_TWO(d + 8)
    }
    sums[0] = (edgec_eight_s32_t){low[0], high[0]};
    sums[1] = (edgec_eight_s32_t){low[1], high[1]};
    sums[2] = (edgec_eight_s32_t){low[2], high[2]};
    sums[3] = (edgec_eight_s32_t){low[3], high[3]};
}

#ifdef __cplusplus
}
#endif

#endif

#endif
