/* Products of one row of int8 with weights of 1 or 2 bits by table, on A64: 32 filters at a time.
 *
 * Four columns of 1 bit, or two of 2 bits, are a number of 4 bits.  For all 16 of these numbers the
 * sum of the products is in a table, which is made of the row once and serves all filters: TBL
 * looks up 16 of them (Wei et al., "T-MAC", arXiv 2407.00088).  Nothing is rounded here:
 *
 *     level of a digit d    of 1 bit: d, 0 or 1      of 2 bits: d - 1, -1 to 2
 *     sum of a group        -512 to 508 for any codes: 32 * high + low, low 0 to 31,
 *                           high -16 to 15, each a byte of a table
 *     eight groups          low up to 248, high from -128 to 120: they are added up in bytes
 *     255 times eight       low up to 63240, high from -32640: in 16 bits
 *
 *     tables     [groups][low 16, high 16]
 *     weights    [filters / 32][groups / 2][32]: of a filter the number of an even group in the
 *                lower four bits, that of the next one above it
 */
#ifndef EDGEC_DENSE_DENSE_1X32_TABLE_NEON_H
#define EDGEC_DENSE_DENSE_1X32_TABLE_NEON_H

#if defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_1x4_packed_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Filters of a tile, and groups that are added up in bytes. */
#define EDGEC_TABLE_FILTERS 32
#define EDGEC_TABLE_GROUPS 8
#define EDGEC_TABLE_BYTES 32

/* Stores the table of a group: the sums of the first eight numbers, and of the others. */
EDGEC_INLINE void edgec_table_put(uint8_t *table, int16x8_t first, int16x8_t last) {
    const uint8x16_t low = vuzp1q_u8(vreinterpretq_u8_s16(first), vreinterpretq_u8_s16(last));
    const int8x16_t high = vshrn_high_n_s16(vshrn_n_s16(first, 5), last, 5);
    vst1q_u8(table, vandq_u8(low, vdupq_n_u8(31)));
    vst1q_u8(table + 16, vreinterpretq_u8_s8(high));
}

/* Tables of a row of `columns` codes, a multiple of eight: four columns each. */
EDGEC_INLINE void edgec_tables1(const int8_t *row, uint8_t *tables, int32_t columns) {
    static const edgec_s16_t levels[3][8] = {
        {0, 1, 0, 1, 0, 1, 0, 1},
        {0, 0, 1, 1, 0, 0, 1, 1},
        {0, 0, 0, 0, 1, 1, 1, 1},
    };
    const int16x8_t a = vld1q_s16(levels[0]);
    const int16x8_t b = vld1q_s16(levels[1]);
    const int16x8_t c = vld1q_s16(levels[2]);
    const int16x8_t one = vdupq_n_s16(1);
#define EDGEC_TABLE_OF_FOUR(TABLE, FIRST)                                                          \
    do {                                                                                           \
        int16x8_t sums = vmulq_laneq_s16(a, x, FIRST);                                             \
        sums = vmlaq_laneq_s16(sums, b, x, (FIRST) + 1);                                           \
        sums = vmlaq_laneq_s16(sums, c, x, (FIRST) + 2);                                           \
        edgec_table_put(TABLE, sums, vmlaq_laneq_s16(sums, one, x, (FIRST) + 3));                  \
    } while (0)
    for (int32_t i = 0; i < columns; i += 8) {
        const int16x8_t x = vmovl_s8(vld1_s8(row + i));
        EDGEC_TABLE_OF_FOUR(tables, 0);
        EDGEC_TABLE_OF_FOUR(tables + EDGEC_TABLE_BYTES, 4);
        tables += 2 * EDGEC_TABLE_BYTES;
    }
#undef EDGEC_TABLE_OF_FOUR
}

/* The same, two columns each. */
EDGEC_INLINE void edgec_tables2(const int8_t *row, uint8_t *tables, int32_t columns) {
    static const edgec_s16_t levels[2][8] = {
        {-1, 0, 1, 2, -1, 0, 1, 2},
        {-1, -1, -1, -1, 0, 0, 0, 0},
    };
    const int16x8_t a = vld1q_s16(levels[0]);
    const int16x8_t b = vld1q_s16(levels[1]);
    const int16x8_t two = vdupq_n_s16(2);
#define EDGEC_TABLE_OF_TWO(TABLE, FIRST)                                                           \
    do {                                                                                           \
        int16x8_t sums = vmulq_laneq_s16(a, x, FIRST);                                             \
        sums = vmlaq_laneq_s16(sums, b, x, (FIRST) + 1);                                           \
        edgec_table_put(TABLE, sums, vmlaq_laneq_s16(sums, two, x, (FIRST) + 1));                  \
    } while (0)
    for (int32_t i = 0; i < columns; i += 8) {
        const int16x8_t x = vmovl_s8(vld1_s8(row + i));
        EDGEC_TABLE_OF_TWO(tables, 0);
        EDGEC_TABLE_OF_TWO(tables + EDGEC_TABLE_BYTES, 2);
        EDGEC_TABLE_OF_TWO(tables + 2 * EDGEC_TABLE_BYTES, 4);
        EDGEC_TABLE_OF_TWO(tables + 3 * EDGEC_TABLE_BYTES, 6);
        tables += 4 * EDGEC_TABLE_BYTES;
    }
#undef EDGEC_TABLE_OF_TWO
}

/* Sums of sixteen filters. */
typedef struct edgec_table_sums {
    uint8x16_t low;
    int8x16_t high;
} edgec_table_sums_t;

EDGEC_INLINE edgec_table_sums_t edgec_table_added(edgec_table_sums_t sums, const uint8_t *table,
                                                  uint8x16_t numbers) {
    sums.low = vaddq_u8(sums.low, vqtbl1q_u8(vld1q_u8(table), numbers));
    const uint8x16_t high = vqtbl1q_u8(vld1q_u8(table + 16), numbers);
    sums.high = vaddq_s8(sums.high, vreinterpretq_s8_u8(high));
    return sums;
}

EDGEC_INLINE edgec_table_sums_t edgec_table_eight(const uint8_t *tables, const uint8_t *weights) {
    const uint8x16_t mask = vdupq_n_u8(15);
    edgec_table_sums_t sums = {vdupq_n_u8(0), vdupq_n_s8(0)};
#define EDGEC_TABLE_PAIR(AT)                                                                       \
    do {                                                                                           \
        const uint8x16_t pair = vld1q_u8(weights + (AT) * EDGEC_TABLE_FILTERS);                    \
        const uint8_t *const table = tables + 2 * (AT) * EDGEC_TABLE_BYTES;                        \
        sums = edgec_table_added(sums, table, vandq_u8(pair, mask));                               \
        sums = edgec_table_added(sums, table + EDGEC_TABLE_BYTES, vshrq_n_u8(pair, 4));            \
    } while (0)
    EDGEC_TABLE_PAIR(0);
    EDGEC_TABLE_PAIR(1);
    EDGEC_TABLE_PAIR(2);
    EDGEC_TABLE_PAIR(3);
#undef EDGEC_TABLE_PAIR
    return sums;
}

/* Sums of sixteen filters in 16 bits. */
typedef struct edgec_table_wide {
    uint16x8_t low[2];
    int16x8_t high[2];
} edgec_table_wide_t;

EDGEC_INLINE edgec_table_wide_t edgec_table_widened(edgec_table_wide_t wide,
                                                    edgec_table_sums_t sums) {
    wide.low[0] = vaddw_u8(wide.low[0], vget_low_u8(sums.low));
    wide.low[1] = vaddw_high_u8(wide.low[1], sums.low);
    wide.high[0] = vaddw_s8(wide.high[0], vget_low_s8(sums.high));
    wide.high[1] = vaddw_high_s8(wide.high[1], sums.high);
    return wide;
}

/* factor * (low + 32 * high) - excess, of sixteen filters. */
EDGEC_INLINE void edgec_table_whole(edgec_table_wide_t wide, int32_t factor, int32_t excess,
                                    int32_t *sums) {
    const int32x4_t less = vdupq_n_s32(-excess);
    for (int32_t half = 0; half < 2; half++) {
        const int32x4_t first =
            vaddq_s32(vshll_n_s16(vget_low_s16(wide.high[half]), 5),
                      vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(wide.low[half]))));
        const int32x4_t last = vaddq_s32(vshll_high_n_s16(wide.high[half], 5),
                                         vreinterpretq_s32_u32(vmovl_high_u16(wide.low[half])));
        vst1q_s32(sums + 8 * half, vmlaq_n_s32(less, first, factor));
        vst1q_s32(sums + 8 * half + 4, vmlaq_n_s32(less, last, factor));
    }
}

/* The sums of 32 filters, over `turns` times eight groups, 1 to 255. */
EDGEC_INLINE void edgec_table_tile(const uint8_t *tables, const uint8_t *weights, int32_t turns,
                                   int32_t factor, int32_t excess, int32_t *sums) {
    const uint16x8_t zero = vdupq_n_u16(0);
    const int16x8_t none = vdupq_n_s16(0);
    edgec_table_wide_t first = {{zero, zero}, {none, none}};
    edgec_table_wide_t last = first;
    do {
        first = edgec_table_widened(first, edgec_table_eight(tables, weights));
        last = edgec_table_widened(last, edgec_table_eight(tables, weights + 16));
        tables += EDGEC_TABLE_GROUPS * EDGEC_TABLE_BYTES;
        weights += EDGEC_TABLE_GROUPS / 2 * EDGEC_TABLE_FILTERS;
    } while (--turns > 0);
    edgec_table_whole(first, factor, excess, sums);
    edgec_table_whole(last, factor, excess, sums + 16);
}

#ifdef __cplusplus
}
#endif

#endif
#endif
