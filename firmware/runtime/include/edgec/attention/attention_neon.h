/* Softmax attention with NEON, four queries of a head at a time: ir/qops/attention.py,
 * QAttention.
 *
 * Keys and values of a head are packed once.  Logits are the products of dense_4x4_s8_neon.h with
 * keys in place of filters; the exponentials of a row lie over its logits, two bytes each.
 *
 *     keys      [groups of 4][blocks][4 keys][16]
 *     values    [groups of 8 columns][keys][8] int16
 *     logits    [4 queries][keys, a multiple of 8] int32
 *
 * Only kernels for cores with NEON use these functions; there is no C form.
 */
#ifndef EDGEC_ATTENTION_ATTENTION_NEON_H
#define EDGEC_ATTENTION_ATTENTION_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/attention/attention.h"
#include "edgec/attention/exponentials_neon.h"
#include "edgec/dense/dense_4x4_s8_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of values whose sums are computed together. */
#define EDGEC_NEON_COLUMNS 8

/* Packs the keys of a head, `width` columns of rows `stride` apart, in groups of four; those beyond
 * the last one repeat it.  `blocks` are those of a key. */
EDGEC_INLINE void edgec_neon_pack_keys(const int8_t *from, int32_t stride, int32_t keys,
                                       int32_t width, int32_t blocks, int8_t *to) {
    for (int32_t first = 0; first < keys; first += EDGEC_NEON_ROWS) {
        for (int32_t j = 0; j < EDGEC_NEON_ROWS; j++) {
            const int32_t key = edgec_min_s32(first + j, keys - 1);
            edgec_neon_spread(from + key * stride, to + j * EDGEC_NEON_LANES, width);
        }
        to += blocks * EDGEC_NEON_BLOCK;
    }
}

/* Up to eight int8, followed by zeros. */
EDGEC_INLINE int8x8_t edgec_neon_eight_s8(const int8_t *from, int32_t count) {
    uint64_t word = 0;
    memcpy(&word, from, (size_t)count);
    return vreinterpret_s8_u64(vdup_n_u64(word));
}

/* Packs the values of a head likewise; there is room for `rows` keys, a multiple of four. */
EDGEC_INLINE void edgec_neon_pack_values(const int8_t *from, int32_t stride, int32_t keys,
                                         int32_t rows, int32_t width, edgec_s16_t *to) {
    int32_t e = 0;
    for (; e <= width - EDGEC_NEON_COLUMNS; e += EDGEC_NEON_COLUMNS) {
        for (int32_t j = 0; j < rows; j++, to += EDGEC_NEON_COLUMNS) {
            const int8_t *const row = from + edgec_min_s32(j, keys - 1) * stride;
            vst1q_s16(to, vmovl_s8(vld1_s8(row + e)));
        }
    }
    for (int32_t j = 0; e < width && j < rows; j++, to += EDGEC_NEON_COLUMNS) {
        const int8_t *const row = from + edgec_min_s32(j, keys - 1) * stride;
        vst1q_s16(to, vmovl_s8(edgec_neon_eight_s8(row + e, width - e)));
    }
}

/* The greatest of four lanes. */
EDGEC_INLINE int32_t edgec_neon_greatest(int32x4_t lanes) {
#if defined(__aarch64__)
    return vmaxvq_s32(lanes);
#else
    const int32x2_t pair = vmax_s32(vget_low_s32(lanes), vget_high_s32(lanes));
    return vget_lane_s32(vpmax_s32(pair, pair), 0);
#endif
}

/* The logits of four packed queries with `keys` packed keys, rows `row` apart; the greatest of each
 * query goes to `highest`.  `valid` is as above. */
EDGEC_INLINE void edgec_neon_logits(const int8_t *queries, const int8_t *packed, int32_t blocks,
                                    int32_t keys, const edgec_s16_t *valid, edgec_s32_t *logits,
                                    int32_t row, int32_t *highest) {
    int32x4_t most0 = vdupq_n_s32(INT32_MIN);
    int32x4_t most1 = most0;
    int32x4_t most2 = most0;
    int32x4_t most3 = most0;
    for (int32_t j = 0; j < keys; j += EDGEC_NEON_ROWS) {
        edgec_neon_tile_t tile = edgec_neon_tile4(queries, packed, blocks);
        vst1q_s32(logits + j, tile.row[0]);
        vst1q_s32(logits + row + j, tile.row[1]);
        vst1q_s32(logits + 2 * row + j, tile.row[2]);
        vst1q_s32(logits + 3 * row + j, tile.row[3]);
        if (valid != NULL) {
            const int32x4_t least = vdupq_n_s32(INT32_MIN);
            const uint32x4_t part = vreinterpretq_u32_s32(vmovl_s16(vld1_s16(valid + j)));
            tile.row[0] = vbslq_s32(part, tile.row[0], least);
            tile.row[1] = vbslq_s32(part, tile.row[1], least);
            tile.row[2] = vbslq_s32(part, tile.row[2], least);
            tile.row[3] = vbslq_s32(part, tile.row[3], least);
        }
        most0 = vmaxq_s32(most0, tile.row[0]);
        most1 = vmaxq_s32(most1, tile.row[1]);
        most2 = vmaxq_s32(most2, tile.row[2]);
        most3 = vmaxq_s32(most3, tile.row[3]);
        packed += blocks * EDGEC_NEON_BLOCK;
    }
    highest[0] = edgec_neon_greatest(most0);
    highest[1] = edgec_neon_greatest(most1);
    highest[2] = edgec_neon_greatest(most2);
    highest[3] = edgec_neon_greatest(most3);
}

/* Adds steps[place] to each logit of a row; the greatest of those that take part. */
EDGEC_INLINE int32_t edgec_neon_biased(edgec_s32_t *logits, int32_t keys, const edgec_s32_t *steps,
                                       const edgec_s16_t *places, const edgec_s16_t *valid) {
    int32_t highest = INT32_MIN;
    for (int32_t j = 0; j < keys; j++) {
        const int32_t logit = logits[j] + steps[places[j]];
        logits[j] = logit;
        if (valid == NULL || valid[j] != 0) {
            highest = edgec_max_s32(highest, logit);
        }
    }
    return highest;
}

/* The sums of eight columns. */
typedef struct edgec_neon_eight {
    int32x4_t low;
    int32x4_t high;
} edgec_neon_eight_t;

/* sum + weight[LANE] * values. */
#if defined(__aarch64__)
#define EDGEC_NEON_WEIGH(SUM, VALUES, WEIGHTS, LANE)                                               \
    do {                                                                                           \
        (SUM).low = vmlal_lane_s16((SUM).low, vget_low_s16(VALUES), WEIGHTS, LANE);                \
        (SUM).high = vmlal_high_lane_s16((SUM).high, VALUES, WEIGHTS, LANE);                       \
    } while (0)
#else
#define EDGEC_NEON_WEIGH(SUM, VALUES, WEIGHTS, LANE)                                               \
    do {                                                                                           \
        (SUM).low = vmlal_lane_s16((SUM).low, vget_low_s16(VALUES), WEIGHTS, LANE);                \
        (SUM).high = vmlal_lane_s16((SUM).high, vget_high_s16(VALUES), WEIGHTS, LANE);             \
    } while (0)
#endif

/* One of four keys for each of four queries. */
#define EDGEC_NEON_WEIGH4(LANE)                                                                    \
    do {                                                                                           \
        const int16x8_t edgec_row = vld1q_s16(values);                                             \
        values += EDGEC_NEON_COLUMNS;                                                              \
        EDGEC_NEON_WEIGH(sum0, edgec_row, weights0, LANE);                                         \
        EDGEC_NEON_WEIGH(sum1, edgec_row, weights1, LANE);                                         \
        EDGEC_NEON_WEIGH(sum2, edgec_row, weights2, LANE);                                         \
        EDGEC_NEON_WEIGH(sum3, edgec_row, weights3, LANE);                                         \
    } while (0)

/* An output of eight columns from their sums. */
EDGEC_INLINE int8x8_t edgec_neon_codes(edgec_neon_eight_t sum, edgec_attention_scale_t scale) {
    const int32x4_t shift = vdupq_n_s32(-scale.shift);
    const int32x4_t low = vmovl_s16(vqmovn_s32(vrshlq_s32(sum.low, shift)));
    const int32x4_t high = vmovl_s16(vqmovn_s32(vrshlq_s32(sum.high, shift)));
    const int32x4_t first = vrshrq_n_s32(vmulq_n_s32(low, scale.reciprocal), 21);
    const int32x4_t second = vrshrq_n_s32(vmulq_n_s32(high, scale.reciprocal), 21);
    const int8x8_t codes = vqmovn_s16(vcombine_s16(vmovn_s32(first), vmovn_s32(second)));
    return vmax_s8(codes, vdup_n_s8(-INT8_MAX));
}

/* Stores the first `count` of eight int8. */
EDGEC_INLINE void edgec_neon_put8_s8(int8_t *to, int8x8_t eight, int32_t count) {
    const uint64_t word = vget_lane_u64(vreinterpret_u64_s8(eight), 0);
    memcpy(to, &word, (size_t)count);
}

/* `columns` outputs, 1 to 8, of each of four queries: the values of `keys` keys, a multiple of
 * four, weighted and scaled.  Rows of weights are `row` words apart; `to` are the places. */
EDGEC_SEPARATE void edgec_neon_values(const edgec_s32_t *logits, int32_t row,
                                      const edgec_s16_t *values, int32_t keys,
                                      const edgec_attention_scale_t *scales, int8_t *const *to,
                                      int32_t e, int32_t columns) {
    const int32x4_t zero = vdupq_n_s32(0);
    edgec_neon_eight_t sum0 = {zero, zero};
    edgec_neon_eight_t sum1 = {zero, zero};
    edgec_neon_eight_t sum2 = {zero, zero};
    edgec_neon_eight_t sum3 = {zero, zero};
    const edgec_s16_t *weights = (const edgec_s16_t *)(const void *)logits;
    for (const edgec_s16_t *const end = weights + keys; weights != end;
         weights += EDGEC_NEON_ROWS) {
        const int16x4_t weights0 = vld1_s16(weights);
        const int16x4_t weights1 = vld1_s16(weights + 2 * row);
        const int16x4_t weights2 = vld1_s16(weights + 4 * row);
        const int16x4_t weights3 = vld1_s16(weights + 6 * row);
        EDGEC_NEON_WEIGH4(0);
        EDGEC_NEON_WEIGH4(1);
        EDGEC_NEON_WEIGH4(2);
        EDGEC_NEON_WEIGH4(3);
    }
    const int8x8_t y0 = edgec_neon_codes(sum0, scales[0]);
    const int8x8_t y1 = edgec_neon_codes(sum1, scales[1]);
    const int8x8_t y2 = edgec_neon_codes(sum2, scales[2]);
    const int8x8_t y3 = edgec_neon_codes(sum3, scales[3]);
    if (columns == EDGEC_NEON_COLUMNS) {
        vst1_s8(to[0] + e, y0);
        vst1_s8(to[1] + e, y1);
        vst1_s8(to[2] + e, y2);
        vst1_s8(to[3] + e, y3);
    } else {
        edgec_neon_put8_s8(to[0] + e, y0, columns);
        edgec_neon_put8_s8(to[1] + e, y1, columns);
        edgec_neon_put8_s8(to[2] + e, y2, columns);
        edgec_neon_put8_s8(to[3] + e, y3, columns);
    }
}

#ifdef __cplusplus
}
#endif

#endif
#endif
