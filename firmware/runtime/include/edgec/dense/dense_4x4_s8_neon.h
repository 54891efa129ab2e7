/* Dot products of int8 with NEON: four rows of x with four filters at a time.
 *
 * The largest product of a code and a weight that is not -128 is 128 * 127, so two of them fit the
 * int16 lanes of VMULL and VMLAL; VPADAL adds neighbours to int32.  16 products are three
 * instructions.  Both sides are *packed*: blocks of 16 values, one for each of four rows of x, or
 * of four filters, in turn, so that each is read through one pointer.
 *
 *     rows         [blocks][4 rows][16]       edgec_neon_spread
 *     weights      [blocks][4 filters][16]    edgec/kernels/neon/weights.py
 *
 * What lies beyond the last value of a depth that is no multiple of 16 is zero on one side, and
 * anything on the other.  Only kernels for cores with NEON use these functions; there is no C form:
 * tests run them in an emulator.  One source serves A64 and Armv7-A.
 */
#ifndef EDGEC_DENSE_DENSE_4X4_S8_NEON_H
#define EDGEC_DENSE_DENSE_4X4_S8_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of x, or filters, of a block; values of one of them; bytes of all. */
#define EDGEC_NEON_ROWS 4
#define EDGEC_NEON_LANES 16
#define EDGEC_NEON_BLOCK (EDGEC_NEON_ROWS * EDGEC_NEON_LANES)

/* The sums of four filters, for each of up to four rows. */
typedef struct edgec_neon_tile {
    int32x4_t row[EDGEC_NEON_ROWS];
} edgec_neon_tile_t;

/* Partial sums of one row, for each of four filters. */
typedef struct edgec_neon_partial {
    int32x4_t a;
    int32x4_t b;
    int32x4_t c;
    int32x4_t d;
} edgec_neon_partial_t;

/* sum + the products of 16 values, four neighbours a lane. */
EDGEC_INLINE int32x4_t edgec_neon_dot16(int32x4_t sum, int8x16_t x, int8x16_t w) {
    const int16x8_t products = vmull_s8(vget_low_s8(x), vget_low_s8(w));
#if defined(__aarch64__)
    return vpadalq_s16(sum, vmlal_high_s8(products, x, w));
#else
    return vpadalq_s16(sum, vmlal_s8(products, vget_high_s8(x), vget_high_s8(w)));
#endif
}

#if !defined(__aarch64__)
EDGEC_INLINE int32x2_t edgec_neon_halves(int32x4_t sums) {
    return vadd_s32(vget_low_s32(sums), vget_high_s32(sums));
}
#endif

/* The four partial sums of each filter as one. */
EDGEC_INLINE int32x4_t edgec_neon_whole(edgec_neon_partial_t sums) {
#if defined(__aarch64__)
    return vpaddq_s32(vpaddq_s32(sums.a, sums.b), vpaddq_s32(sums.c, sums.d));
#else
    return vcombine_s32(vpadd_s32(edgec_neon_halves(sums.a), edgec_neon_halves(sums.b)),
                        vpadd_s32(edgec_neon_halves(sums.c), edgec_neon_halves(sums.d)));
#endif
}

/* The sums of one row, any of a packed four.  There is at least one block. */
EDGEC_INLINE int32x4_t edgec_neon_sums1(const int8_t *rows, const int8_t *weights, int32_t blocks) {
    const int32x4_t zero = vdupq_n_s32(0);
    edgec_neon_partial_t sums = {zero, zero, zero, zero};
    const int8_t *const end = weights + blocks * EDGEC_NEON_BLOCK;
    do {
        const int8x16_t x = vld1q_s8(rows);
        sums.a = edgec_neon_dot16(sums.a, x, vld1q_s8(weights));
        sums.b = edgec_neon_dot16(sums.b, x, vld1q_s8(weights + 16));
        sums.c = edgec_neon_dot16(sums.c, x, vld1q_s8(weights + 32));
        sums.d = edgec_neon_dot16(sums.d, x, vld1q_s8(weights + 48));
        rows += EDGEC_NEON_BLOCK;
        weights += EDGEC_NEON_BLOCK;
    } while (weights != end);
    return edgec_neon_whole(sums);
}

/* The sums of the first row of a packed four. */
EDGEC_INLINE edgec_neon_tile_t edgec_neon_tile1(const int8_t *rows, const int8_t *weights,
                                                int32_t blocks) {
    const edgec_neon_tile_t tile = {{edgec_neon_sums1(rows, weights, blocks)}};
    return tile;
}

/* The sums of all four.  In assembly, for all registers are in use: a compiler that orders the
 * products by itself stores some of the sums in every turn. */
#if defined(__GNUC__) && defined(__aarch64__)
/* clang-format off */
/* A block of a row in register X with the filters in v0-v3; ADD makes sums of the products. */
#define EDGEC_NEON_ROW_OF_X(ADD, X, A, B, C, D)                                                    \
    "smull v8.8h, v" X ".8b, v0.8b\n"                                                              \
    "smull v9.8h, v" X ".8b, v1.8b\n"                                                              \
    "smull v10.8h, v" X ".8b, v2.8b\n"                                                             \
    "smull v11.8h, v" X ".8b, v3.8b\n"                                                             \
    "smlal2 v8.8h, v" X ".16b, v0.16b\n"                                                           \
    "smlal2 v9.8h, v" X ".16b, v1.16b\n"                                                           \
    "smlal2 v10.8h, v" X ".16b, v2.16b\n"                                                          \
    "smlal2 v11.8h, v" X ".16b, v3.16b\n"                                                          \
    ADD " " A ".4s, v8.8h\n"                                                                       \
    ADD " " B ".4s, v9.8h\n"                                                                       \
    ADD " " C ".4s, v10.8h\n"                                                                      \
    ADD " " D ".4s, v11.8h\n"
#define EDGEC_NEON_FOUR_ROWS(ADD)                                                                  \
    "ldp q2, q3, [%[w], #32]\n"                                                                    \
    "ldp q0, q1, [%[w]], #64\n"                                                                    \
    "ldp q6, q7, [%[x], #32]\n"                                                                    \
    "ldp q4, q5, [%[x]], #64\n"                                                                    \
    EDGEC_NEON_ROW_OF_X(ADD, "4", "%0", "v16", "v17", "v18")                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "5", "%1", "v19", "v20", "v21")                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "6", "%2", "v22", "v23", "v24")                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "7", "%3", "v25", "v26", "v27")
#define EDGEC_NEON_WHOLE(A, B, C, D)                                                               \
    "addp " A ".4s, " A ".4s, " B ".4s\n"                                                          \
    "addp " C ".4s, " C ".4s, " D ".4s\n"                                                          \
    "addp " A ".4s, " A ".4s, " C ".4s\n"
EDGEC_INLINE edgec_neon_tile_t edgec_neon_tile4(const int8_t *rows, const int8_t *weights,
                                                int32_t blocks) {
    edgec_neon_tile_t tile;
    const int8_t *const end = weights + blocks * EDGEC_NEON_BLOCK;
    __asm__ volatile(EDGEC_NEON_FOUR_ROWS("saddlp")
                     "b 2f\n"
                     "1:\n"
                     EDGEC_NEON_FOUR_ROWS("sadalp")
                     "2:\n"
                     "cmp %[w], %[end]\n"
                     "b.ne 1b\n"
                     EDGEC_NEON_WHOLE("%0", "v16", "v17", "v18")
                     EDGEC_NEON_WHOLE("%1", "v19", "v20", "v21")
                     EDGEC_NEON_WHOLE("%2", "v22", "v23", "v24")
                     EDGEC_NEON_WHOLE("%3", "v25", "v26", "v27")
                     : "=&w"(tile.row[0]), "=&w"(tile.row[1]), "=&w"(tile.row[2]),
                       "=&w"(tile.row[3]), [x] "+r"(rows), [w] "+r"(weights)
                     : [end] "r"(end)
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
                       "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",
                       "v27", "cc", "memory");
    return tile;
}
/* clang-format on */
#elif defined(__GNUC__)
/* clang-format off */
/* A block of a row with the filters in q0-q3, two at a time. */
#define EDGEC_NEON_ROW_OF_X(ADD, LOW, HIGH, A, B, C, D)                                            \
    "vmull.s8 q6, " LOW ", d0\n"                                                                   \
    "vmull.s8 q7, " LOW ", d2\n"                                                                   \
    "vmlal.s8 q6, " HIGH ", d1\n"                                                                  \
    "vmlal.s8 q7, " HIGH ", d3\n"                                                                  \
    ADD ".s16 " A ", q6\n"                                                                         \
    ADD ".s16 " B ", q7\n"                                                                         \
    "vmull.s8 q6, " LOW ", d4\n"                                                                   \
    "vmull.s8 q7, " LOW ", d6\n"                                                                   \
    "vmlal.s8 q6, " HIGH ", d5\n"                                                                  \
    "vmlal.s8 q7, " HIGH ", d7\n"                                                                  \
    ADD ".s16 " C ", q6\n"                                                                         \
    ADD ".s16 " D ", q7\n"
#define EDGEC_NEON_TWO_ROWS(ADD)                                                                   \
    "vld1.8 {d0-d3}, [%[w]]!\n"                                                                    \
    "vld1.8 {d8-d11}, [%[x]], %[step]\n"                                                           \
    "vld1.8 {d4-d7}, [%[w]]!\n"                                                                    \
    EDGEC_NEON_ROW_OF_X(ADD, "d8", "d9", "q8", "q9", "q10", "q11")                                 \
    EDGEC_NEON_ROW_OF_X(ADD, "d10", "d11", "q12", "q13", "q14", "q15")
/* Two rows of a packed four. */
EDGEC_INLINE void edgec_neon_tile2(const int8_t *rows, const int8_t *weights, int32_t blocks,
                                   edgec_neon_tile_t *tile, int32_t first) {
    register int32x4_t sum0 __asm__("q8");
    register int32x4_t sum1 __asm__("q9");
    const int8_t *from = rows + EDGEC_NEON_LANES * first;
    const int8_t *const end = weights + blocks * EDGEC_NEON_BLOCK;
    __asm__ volatile(EDGEC_NEON_TWO_ROWS("vpaddl")
                     "b 2f\n"
                     "1:\n"
                     EDGEC_NEON_TWO_ROWS("vpadal")
                     "2:\n"
                     "cmp %[w], %[end]\n"
                     "bne 1b\n"
                     "vadd.i32 d0, d16, d17\n"
                     "vadd.i32 d1, d18, d19\n"
                     "vadd.i32 d2, d20, d21\n"
                     "vadd.i32 d3, d22, d23\n"
                     "vadd.i32 d4, d24, d25\n"
                     "vadd.i32 d5, d26, d27\n"
                     "vadd.i32 d6, d28, d29\n"
                     "vadd.i32 d7, d30, d31\n"
                     "vpadd.i32 d16, d0, d1\n"
                     "vpadd.i32 d17, d2, d3\n"
                     "vpadd.i32 d18, d4, d5\n"
                     "vpadd.i32 d19, d6, d7\n"
                     : "=w"(sum0), "=w"(sum1), [x] "+r"(from), [w] "+r"(weights)
                     : [end] "r"(end), [step] "r"(EDGEC_NEON_BLOCK)
                     : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q10", "q11", "q12", "q13",
                       "q14", "q15", "cc", "memory");
    tile->row[first] = sum0;
    tile->row[first + 1] = sum1;
}
/* clang-format on */

EDGEC_INLINE edgec_neon_tile_t edgec_neon_tile4(const int8_t *rows, const int8_t *weights,
                                                int32_t blocks) {
    edgec_neon_tile_t tile;
    edgec_neon_tile2(rows, weights, blocks, &tile, 0);
    edgec_neon_tile2(rows, weights, blocks, &tile, 2);
    return tile;
}
#else
EDGEC_INLINE edgec_neon_tile_t edgec_neon_tile4(const int8_t *rows, const int8_t *weights,
                                                int32_t blocks) {
    const edgec_neon_tile_t tile = {{
        edgec_neon_sums1(rows, weights, blocks),
        edgec_neon_sums1(rows + 16, weights, blocks),
        edgec_neon_sums1(rows + 32, weights, blocks),
        edgec_neon_sums1(rows + 48, weights, blocks),
    }};
    return tile;
}
#endif

/* Packs `count` values of one row, or filter: `to` is its place in the first block.  What is
 * beyond them keeps its value. */
EDGEC_INLINE void edgec_neon_spread(const int8_t *from, int8_t *to, int32_t count) {
    for (; count >= EDGEC_NEON_LANES; count -= EDGEC_NEON_LANES) {
        vst1q_s8(to, vld1q_s8(from));
        from += EDGEC_NEON_LANES;
        to += EDGEC_NEON_BLOCK;
    }
    if (count > 0) {
        memcpy(to, from, (size_t)count);
    }
}

/* The same for whole blocks; what they hold beyond the values is read. */
EDGEC_INLINE void edgec_neon_spread_whole(const int8_t *from, int8_t *to, int32_t blocks) {
    for (int32_t i = 0; i < blocks; i++) {
        vst1q_s8(to + i * EDGEC_NEON_BLOCK, vld1q_s8(from + i * EDGEC_NEON_LANES));
    }
}

/* Stores the first `count` of four int8, `count` a constant of 1 to 4. */
EDGEC_INLINE void edgec_neon_put_s8(int8_t *to, uint32_t four, int32_t count) {
    memcpy(to, &four, (size_t)count);
}

/* Stores the first `count` of four int16, likewise. */
EDGEC_INLINE void edgec_neon_put_s16(edgec_s16_t *to, int16x4_t four, int32_t count) {
    const uint64_t word = vget_lane_u64(vreinterpret_u64_s16(four), 0);
    memcpy(to, &word, (size_t)count * sizeof *to);
}

/* The four bytes of an int32 lane. */
#define EDGEC_NEON_FOUR(BYTES, LANE) vgetq_lane_u32(vreinterpretq_u32_s8(BYTES), LANE)

/* Stores table[index] of four indices from lane FIRST on, or of the first COUNT of them. */
#define EDGEC_NEON_LOOK_UP(TO, TABLE, INDEX, FIRST, COUNT)                                         \
    do {                                                                                           \
        (TO)[0] = (TABLE)[vgetq_lane_s16(INDEX, FIRST)];                                           \
        if ((COUNT) > 1) {                                                                         \
            (TO)[1] = (TABLE)[vgetq_lane_s16(INDEX, (FIRST) + 1)];                                 \
        }                                                                                          \
        if ((COUNT) > 2) {                                                                         \
            (TO)[2] = (TABLE)[vgetq_lane_s16(INDEX, (FIRST) + 2)];                                 \
        }                                                                                          \
        if ((COUNT) > 3) {                                                                         \
            (TO)[3] = (TABLE)[vgetq_lane_s16(INDEX, (FIRST) + 3)];                                 \
        }                                                                                          \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
#endif
