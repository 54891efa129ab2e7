/* Products of one row of int8 with weights of 2 to 4 bits, with NEON: four filters at a time.
 *
 * A weight of b bits is stored as a digit, the weight plus 2^(b - 1): what is thereby too much is
 * the same for all filters, 2^(b - 1) times the sum of the row.  A digit is a mask and a shift away
 * from its byte, and a product of it with a code is so small that many of them are added up in 16
 * bits before they are widened:
 *
 *     bits   digits of a turn   bytes of a filter   largest product   turns in 16 bits
 *     2      64                 16                  128 * 3           10
 *     3      128                48                  128 * 7           2
 *     4      32                 16                  128 * 15          4
 *
 * Each lane has two products of each 16 digits: 10 turns of 2 bits are 80 products, 80 * 384 <
 * 32768.  Weights are [filters / 4][turns][4 filters][bytes]; edgec/kernels/neon/
 * dense_1x4_packed_neon says which bits of a byte are which digit.  One source serves A64 and
 * Armv7-A.
 */
#ifndef EDGEC_DENSE_DENSE_1X4_PACKED_NEON_H
#define EDGEC_DENSE_DENSE_1X4_PACKED_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_4x4_s8_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies a row of x and fills it up with zeros to `stored` values, a multiple of 16.  Returns the
 * sum of its codes. */
EDGEC_INLINE int32_t edgec_digits_row(const int8_t *x, int8_t *row, int32_t depth, int32_t stored) {
    memcpy(row, x, (size_t)depth);
    memset(row + depth, 0, (size_t)(stored - depth));
    int32x4_t sums = vdupq_n_s32(0);
    for (int32_t i = 0; i < stored; i += EDGEC_NEON_LANES) {
        sums = vpadalq_s16(sums, vpaddlq_s8(vld1q_s8(row + i)));
    }
    const int64x2_t pairs = vpaddlq_s32(sums);
    return (int32_t)(vgetq_lane_s64(pairs, 0) + vgetq_lane_s64(pairs, 1));
}

/* sum + the products of 16 digits with the codes from x on, two a lane. */
EDGEC_INLINE int16x8_t edgec_digits_16(int16x8_t sum, const int8_t *x, uint8x16_t digits) {
    const int8x16_t codes = vld1q_s8(x);
    const int8x16_t w = vreinterpretq_s8_u8(digits);
    sum = vmlal_s8(sum, vget_low_s8(codes), vget_low_s8(w));
#if defined(__aarch64__)
    return vmlal_high_s8(sum, codes, w);
#else
    return vmlal_s8(sum, vget_high_s8(codes), vget_high_s8(w));
#endif
}

/* sum + the products of a turn of one filter. */
EDGEC_INLINE int16x8_t edgec_digits_turn2(int16x8_t sum, const int8_t *x, const uint8_t *w) {
    const uint8x16_t digits = vld1q_u8(w);
    const uint8x16_t mask = vdupq_n_u8(3);
    sum = edgec_digits_16(sum, x, vandq_u8(digits, mask));
    sum = edgec_digits_16(sum, x + 16, vandq_u8(vshrq_n_u8(digits, 2), mask));
    sum = edgec_digits_16(sum, x + 32, vandq_u8(vshrq_n_u8(digits, 4), mask));
    return edgec_digits_16(sum, x + 48, vshrq_n_u8(digits, 6));
}

/* Two lower bits, already in place, and a highest one, by an insertion. */
#define EDGEC_DIGITS_DIGIT3(LOW, HIGH) vandq_u8(vsliq_n_u8(LOW, HIGH, 2), vdupq_n_u8(7))
EDGEC_INLINE int16x8_t edgec_digits_turn3(int16x8_t sum, const int8_t *x, const uint8_t *w) {
    const uint8x16_t a = vld1q_u8(w);
    const uint8x16_t b = vld1q_u8(w + 16);
    const uint8x16_t high = vld1q_u8(w + 32);
#define EDGEC_DIGITS_THREE(PLACE, LOW, HIGH)                                                       \
    sum = edgec_digits_16(sum, x + EDGEC_NEON_LANES * (PLACE), EDGEC_DIGITS_DIGIT3(LOW, HIGH))
    EDGEC_DIGITS_THREE(0, a, high);
    EDGEC_DIGITS_THREE(1, vshrq_n_u8(a, 2), vshrq_n_u8(high, 1));
    EDGEC_DIGITS_THREE(2, vshrq_n_u8(a, 4), vshrq_n_u8(high, 2));
    EDGEC_DIGITS_THREE(3, vshrq_n_u8(a, 6), vshrq_n_u8(high, 3));
    EDGEC_DIGITS_THREE(4, b, vshrq_n_u8(high, 4));
    EDGEC_DIGITS_THREE(5, vshrq_n_u8(b, 2), vshrq_n_u8(high, 5));
    EDGEC_DIGITS_THREE(6, vshrq_n_u8(b, 4), vshrq_n_u8(high, 6));
    EDGEC_DIGITS_THREE(7, vshrq_n_u8(b, 6), vshrq_n_u8(high, 7));
#undef EDGEC_DIGITS_THREE
    return sum;
}

EDGEC_INLINE int16x8_t edgec_digits_turn4(int16x8_t sum, const int8_t *x, const uint8_t *w) {
    const uint8x16_t digits = vld1q_u8(w);
    sum = edgec_digits_16(sum, x, vandq_u8(digits, vdupq_n_u8(15)));
    return edgec_digits_16(sum, x + 16, vshrq_n_u8(digits, 4));
}

/* Defines NAME(row, weights, turns): the sums of four filters, of digits.  TURN adds the products
 * of VECTORS vectors of codes, for which a filter has BYTES bytes; MOST turns fit 16 bits. */
#define EDGEC_DIGITS_SUMS_NEON(NAME, TURN, VECTORS, BYTES, MOST)                                   \
    EDGEC_INLINE int32x4_t NAME(const int8_t *row, const int8_t *weights, int32_t turns) {         \
        const uint8_t *w = (const uint8_t *)weights;                                               \
        const int32x4_t zero = vdupq_n_s32(0);                                                     \
        edgec_neon_partial_t sums = {zero, zero, zero, zero};                                      \
        while (turns > 0) {                                                                        \
            int32_t some = edgec_min_s32(turns, MOST);                                             \
            turns -= some;                                                                         \
            int16x8_t a = vdupq_n_s16(0);                                                          \
            int16x8_t b = a;                                                                       \
            int16x8_t c = a;                                                                       \
            int16x8_t d = a;                                                                       \
            do {                                                                                   \
                a = TURN(a, row, w);                                                               \
                b = TURN(b, row, w + (BYTES));                                                     \
                c = TURN(c, row, w + 2 * (BYTES));                                                 \
                d = TURN(d, row, w + 3 * (BYTES));                                                 \
                row += (VECTORS) * EDGEC_NEON_LANES;                                               \
                w += 4 * (BYTES);                                                                  \
            } while (--some > 0);                                                                  \
            sums.a = vpadalq_s16(sums.a, a);                                                       \
            sums.b = vpadalq_s16(sums.b, b);                                                       \
            sums.c = vpadalq_s16(sums.c, c);                                                       \
            sums.d = vpadalq_s16(sums.d, d);                                                       \
        }                                                                                          \
        return edgec_neon_whole(sums);                                                             \
    }

EDGEC_DIGITS_SUMS_NEON(edgec_digits2, edgec_digits_turn2, 4, 16, 10)
EDGEC_DIGITS_SUMS_NEON(edgec_digits3, edgec_digits_turn3, 8, 48, 2)
EDGEC_DIGITS_SUMS_NEON(edgec_digits4, edgec_digits_turn4, 2, 16, 4)

#ifdef __cplusplus
}
#endif

#endif
#endif
