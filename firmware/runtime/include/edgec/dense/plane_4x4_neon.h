/* Sums over bit planes with NEON: four rows of x with four filters at a time.
 *
 * Rows and filters are packed as those of binary_4x4_neon.h, [planes] of each; with the bits in
 * which they differ `edgec.ir.qops.plane_layers` makes products.  There is no C form: tests run
 * these functions in an emulator.
 */
#ifndef EDGEC_DENSE_PLANE_4X4_NEON_H
#define EDGEC_DENSE_PLANE_4X4_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/dense/binary_4x4_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Packed planes: `bytes` of four rows or filters of a plane, which are `vectors`, and a half. */
typedef struct edgec_neon_planes {
    int32_t bytes;
    int32_t vectors;
    bool half;
} edgec_neon_planes_t;

/* The number of bits in which planes i and j of rows and filters differ, times 2^(i + j), over all
 * i and j. */
EDGEC_INLINE edgec_neon_apart_t edgec_neon_planes_apart(const uint8_t *rows, const uint8_t *weights,
                                                        int32_t x_planes, int32_t w_planes,
                                                        edgec_neon_planes_t form) {
    edgec_neon_apart_t sum = {vdupq_n_u16(0), vdupq_n_u16(0)};
    for (int32_t j = 0; j < w_planes; j++) {
        for (int32_t i = 0; i < x_planes; i++) {
            const edgec_neon_apart_t each = edgec_neon_signs_apart(
                rows + i * form.bytes, weights + j * form.bytes, form.vectors, form.half);
            const int16x8_t shift = vdupq_n_s16((int16_t)(i + j));
            sum.low = vaddq_u16(sum.low, vshlq_u16(each.low, shift));
            sum.high = vaddq_u16(sum.high, vshlq_u16(each.high, shift));
        }
    }
    return sum;
}

/* `slope` times the sum of the codes of each of four rows: those of rows 0 and 1, and of 2 and 3,
 * four times each. */
EDGEC_INLINE edgec_neon_apart_t edgec_neon_planes_sums(const uint8_t *rows, int32_t planes,
                                                       edgec_neon_planes_t form, int16_t slope) {
    uint16x8_t total[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
    for (int32_t i = planes - 1; i >= 0; i--) {
        const uint8_t *const plane = rows + i * form.bytes;
        for (int32_t t = 0; t < 4; t++) {
            uint16x8_t sum = vshlq_n_u16(total[t], 1);
            for (int32_t n = 0; n < form.vectors; n++) {
                sum = vpadalq_u8(sum, vcntq_u8(vld1q_u8(plane + n * EDGEC_SIGNS_BLOCK + t * 16)));
            }
            if (form.half) {
                const uint8_t *const last = plane + form.vectors * EDGEC_SIGNS_BLOCK + t * 8;
                sum = vaddw_u8(sum, vcnt_u8(vld1_u8(last)));
            }
            total[t] = sum;
        }
    }
    const uint16x8_t twos =
        edgec_neon_signs_neighbours(edgec_neon_signs_neighbours(total[0], total[1]),
                                    edgec_neon_signs_neighbours(total[2], total[3]));
    const uint16x4_t ones = vpadd_u16(vget_low_u16(twos), vget_high_u16(twos));
    const uint16x4_t scaled = vmul_n_u16(ones, (uint16_t)slope);
    const edgec_neon_apart_t found = {
        vcombine_u16(vdup_lane_u16(scaled, 0), vdup_lane_u16(scaled, 1)),
        vcombine_u16(vdup_lane_u16(scaled, 2), vdup_lane_u16(scaled, 3)),
    };
    return found;
}

/* step * bits - sums, within 16 bits. */
EDGEC_INLINE edgec_neon_apart_t edgec_neon_planes_total(edgec_neon_apart_t apart,
                                                        edgec_neon_apart_t sums, uint16_t step) {
    const edgec_neon_apart_t total = {
        vsubq_u16(vmulq_n_u16(apart.low, step), sums.low),
        vsubq_u16(vmulq_n_u16(apart.high, step), sums.high),
    };
    return total;
}

/* Bytes of 255 where the total of each row and filter is at most that of the four filters. */
EDGEC_INLINE uint8x16_t edgec_neon_planes_reached(edgec_neon_apart_t total, const int16_t *most) {
    const int16x4_t four = vld1_s16(most);
    const int16x8_t twice = vcombine_s16(four, four);
    return vcombine_u8(vmovn_u16(vcleq_s16(vreinterpretq_s16_u16(total.low), twice)),
                       vmovn_u16(vcleq_s16(vreinterpretq_s16_u16(total.high), twice)));
}

/* -common * total / 2, rounded down, of one row and four filters. */
EDGEC_INLINE int32x4_t edgec_neon_planes_row(uint16x4_t total, int16_t common) {
    return vshrq_n_s32(vmull_n_s16(vreinterpret_s16_u16(total), (int16_t)-common), 1);
}

/* The same of each row. */
EDGEC_INLINE edgec_neon_tile_t edgec_neon_planes_tile(edgec_neon_apart_t total, int16_t common) {
    const edgec_neon_tile_t tile = {{
        edgec_neon_planes_row(vget_low_u16(total.low), common),
        edgec_neon_planes_row(vget_high_u16(total.low), common),
        edgec_neon_planes_row(vget_low_u16(total.high), common),
        edgec_neon_planes_row(vget_high_u16(total.high), common),
    }};
    return tile;
}

/* The bits of 16 codes of 255 or 0. */
EDGEC_INLINE uint8x16_t edgec_neon_planes_bits(uint8x16_t mask) {
    return vandq_u8(mask, edgec_neon_signs_powers());
}

/* A word of the codes of 32 channels, 255 or 0. */
EDGEC_INLINE uint32_t edgec_neon_planes_word(uint8x16_t low, uint8x16_t high) {
    const uint8x16_t pairs =
        edgec_neon_signs_joined(edgec_neon_planes_bits(low), edgec_neon_planes_bits(high));
    const uint8x16_t fours = edgec_neon_signs_joined(pairs, pairs);
    return vgetq_lane_u32(vreinterpretq_u32_u8(edgec_neon_signs_joined(fours, fours)), 0);
}

#ifdef __cplusplus
}
#endif

#endif
#endif
