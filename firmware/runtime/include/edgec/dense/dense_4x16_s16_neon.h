/* Dot products of int16 with int8 weights with NEON: four rows of x with sixteen filters at a time.
 *
 * SMLAL adds the products of one value of a row with the weights of four filters to four int32
 * sums, so that nothing is left to be added up at the end.  Weights are widened to int16 where they
 * are read, once for four rows.  A *word* is four values of a row:
 *
 *     weights      [eight filters][lines][words][4][8]    edgec/kernels/neon/dense_4x16_s16_neon
 *     rows         anywhere in memory, as `lines` runs of int16, read in words
 *
 * Weights that are no weights of a filter are zero, and meet any value of x.  A64 has assembly for
 * sixteen and for eight filters, since all registers are in use; Armv7-A, which has half of them,
 * takes eight filters in C.  Only kernels for cores with NEON use these functions; there is no
 * other form: tests run them in an emulator.
 */
#ifndef EDGEC_DENSE_DENSE_4X16_S16_NEON_H
#define EDGEC_DENSE_DENSE_4X16_S16_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sums of up to four rows with sixteen or eight filters, four by four. */
typedef struct edgec_neon_wide16 {
    int32x4_t sum[4][4];
} edgec_neon_wide16_t;
typedef struct edgec_neon_wide8 {
    int32x4_t sum[4][2];
} edgec_neon_wide8_t;

/* Four values at any address. */
EDGEC_INLINE int16x4_t edgec_neon_word(const int8_t *from) {
    return vreinterpret_s16_s8(vld1_s8(from));
}

/* Weights of eight filters with four values of a row. */
typedef struct edgec_neon_four_weights {
    int16x8_t of[4];
} edgec_neon_four_weights_t;
EDGEC_INLINE edgec_neon_four_weights_t edgec_neon_four_weights(const int8_t *weights) {
    const int8x16_t low = vld1q_s8(weights);
    const int8x16_t high = vld1q_s8(weights + 16);
    const edgec_neon_four_weights_t found = {
        {vmovl_s8(vget_low_s8(low)), vmovl_s8(vget_high_s8(low)), vmovl_s8(vget_low_s8(high)),
         vmovl_s8(vget_high_s8(high))}};
    return found;
}

/* sums[0] and sums[1] + the products of a word with the weights of eight filters. */
EDGEC_INLINE void edgec_neon_add_word(int32x4_t *sums, int16x4_t x, edgec_neon_four_weights_t w) {
    sums[0] = vmlal_lane_s16(sums[0], vget_low_s16(w.of[0]), x, 0);
    sums[1] = vmlal_lane_s16(sums[1], vget_high_s16(w.of[0]), x, 0);
    sums[0] = vmlal_lane_s16(sums[0], vget_low_s16(w.of[1]), x, 1);
    sums[1] = vmlal_lane_s16(sums[1], vget_high_s16(w.of[1]), x, 1);
    sums[0] = vmlal_lane_s16(sums[0], vget_low_s16(w.of[2]), x, 2);
    sums[1] = vmlal_lane_s16(sums[1], vget_high_s16(w.of[2]), x, 2);
    sums[0] = vmlal_lane_s16(sums[0], vget_low_s16(w.of[3]), x, 3);
    sums[1] = vmlal_lane_s16(sums[1], vget_high_s16(w.of[3]), x, 3);
}

/* The sums of one row of words with eight filters, or with sixteen, of which the last eight have
 * their weights `stored` bytes from the first ones; beginning with their biases. */
EDGEC_INLINE edgec_neon_wide8_t edgec_neon_wide1x8(const int8_t *row, const int8_t *weights,
                                                   int32_t stored, int32_t words,
                                                   const int32_t *bias) {
    (void)stored;
    edgec_neon_wide8_t tile = {{{vld1q_s32(bias), vld1q_s32(bias + 4)}}};
    for (int32_t i = 0; i < words; i++) {
        edgec_neon_add_word(tile.sum[0], edgec_neon_word(row + 8 * i),
                            edgec_neon_four_weights(weights + 32 * i));
    }
    return tile;
}
EDGEC_INLINE edgec_neon_wide16_t edgec_neon_wide1x16(const int8_t *row, const int8_t *weights,
                                                     int32_t stored, int32_t words,
                                                     const int32_t *bias) {
    edgec_neon_wide16_t tile = {
        {{vld1q_s32(bias), vld1q_s32(bias + 4), vld1q_s32(bias + 8), vld1q_s32(bias + 12)}}};
    for (int32_t i = 0; i < words; i++) {
        const int16x4_t x = edgec_neon_word(row + 8 * i);
        edgec_neon_add_word(tile.sum[0], x, edgec_neon_four_weights(weights + 32 * i));
        edgec_neon_add_word(tile.sum[0] + 2, x, edgec_neon_four_weights(weights + stored + 32 * i));
    }
    return tile;
}

/* The sums of four rows with eight filters, beginning with their biases.  `step`: bytes from the
 * end of a run to the next one. */
EDGEC_INLINE edgec_neon_wide8_t edgec_neon_wide4x8(const int8_t *const *rows, const int8_t *weights,
                                                   int32_t lines, int32_t words, int32_t step,
                                                   const int32_t *bias) {
    const int32x4_t low = vld1q_s32(bias);
    const int32x4_t high = vld1q_s32(bias + 4);
    edgec_neon_wide8_t tile = {{{low, high}, {low, high}, {low, high}, {low, high}}};
    const int8_t *x0 = rows[0];
    const int8_t *x1 = rows[1];
    const int8_t *x2 = rows[2];
    const int8_t *x3 = rows[3];
    for (int32_t line = 0; line < lines; line++) {
        for (int32_t i = 0; i < words; i++) {
            const edgec_neon_four_weights_t w = edgec_neon_four_weights(weights);
            edgec_neon_add_word(tile.sum[0], edgec_neon_word(x0), w);
            edgec_neon_add_word(tile.sum[1], edgec_neon_word(x1), w);
            edgec_neon_add_word(tile.sum[2], edgec_neon_word(x2), w);
            edgec_neon_add_word(tile.sum[3], edgec_neon_word(x3), w);
            weights += 32;
            x0 += 8;
            x1 += 8;
            x2 += 8;
            x3 += 8;
        }
        x0 += step;
        x1 += step;
        x2 += step;
        x3 += step;
    }
    return tile;
}

#if defined(__GNUC__) && defined(__aarch64__)
/* NAME: the sums of four rows with sixteen or eight filters, beginning with their biases.  A
 * template defines it of pieces, which stand for the words of a run (`LINE`) and for the loop over
 * runs
 * (`NEXT`).  `stored`: bytes from the weights of eight filters to those of the next eight;
 * `eights`: pairs of words of a run; `step`: bytes from the end of a run to the next one.
 *
 * v0 to v3 hold values of four rows, v4 to v7 weights as they are stored, v8 to v15 as int16. */
/* clang-format off */
/* Value K of a row in register X, with sixteen filters in registers LOW and HIGH, or with eight. */
#define EDGEC_NEON_WIDE_ROW_16(X, K, LOW, HIGH, A, B, C, D)                                        \
    "smlal " A ".4s, " LOW ".4h, " X ".h[" K "]\n"                                                 \
    "smlal2 " B ".4s, " LOW ".8h, " X ".h[" K "]\n"                                                \
    "smlal " C ".4s, " HIGH ".4h, " X ".h[" K "]\n"                                                \
    "smlal2 " D ".4s, " HIGH ".8h, " X ".h[" K "]\n"
#define EDGEC_NEON_WIDE_ROW_8(X, K, LOW, A, B)                                                     \
    "smlal " A ".4s, " LOW ".4h, " X ".h[" K "]\n"                                                 \
    "smlal2 " B ".4s, " LOW ".8h, " X ".h[" K "]\n"
#define EDGEC_NEON_WIDE_VALUE_16(K, LOW, HIGH)                                                     \
    EDGEC_NEON_WIDE_ROW_16("v0", K, LOW, HIGH, "%0", "%1", "%2", "%3")                             \
    EDGEC_NEON_WIDE_ROW_16("v1", K, LOW, HIGH, "%4", "%5", "%6", "%7")                             \
    EDGEC_NEON_WIDE_ROW_16("v2", K, LOW, HIGH, "%8", "%9", "%10", "%11")                           \
    EDGEC_NEON_WIDE_ROW_16("v3", K, LOW, HIGH, "%12", "%13", "%14", "%15")
#define EDGEC_NEON_WIDE_VALUE_8(K, LOW)                                                            \
    EDGEC_NEON_WIDE_ROW_8("v0", K, LOW, "%0", "%1")                                                \
    EDGEC_NEON_WIDE_ROW_8("v1", K, LOW, "%2", "%3")                                                \
    EDGEC_NEON_WIDE_ROW_8("v2", K, LOW, "%4", "%5")                                                \
    EDGEC_NEON_WIDE_ROW_8("v3", K, LOW, "%6", "%7")
/* The values K0 to K3. */
#define EDGEC_NEON_WIDE_WORD_16(K0, K1, K2, K3)                                                    \
    "ldp q4, q5, [%[weights]], #32\n"                                                              \
    "ldp q6, q7, [%[others]], #32\n"                                                               \
    "sxtl v8.8h, v4.8b\n"                                                                          \
    "sxtl v9.8h, v6.8b\n"                                                                          \
    EDGEC_NEON_WIDE_VALUE_16(K0, "v8", "v9")                                                       \
    "sxtl2 v10.8h, v4.16b\n"                                                                       \
    "sxtl2 v11.8h, v6.16b\n"                                                                       \
    EDGEC_NEON_WIDE_VALUE_16(K1, "v10", "v11")                                                     \
    "sxtl v12.8h, v5.8b\n"                                                                         \
    "sxtl v13.8h, v7.8b\n"                                                                         \
    EDGEC_NEON_WIDE_VALUE_16(K2, "v12", "v13")                                                     \
    "sxtl2 v14.8h, v5.16b\n"                                                                       \
    "sxtl2 v15.8h, v7.16b\n"                                                                       \
    EDGEC_NEON_WIDE_VALUE_16(K3, "v14", "v15")
#define EDGEC_NEON_WIDE_WORD_8(K0, K1, K2, K3)                                                     \
    "ldp q4, q5, [%[weights]], #32\n"                                                              \
    "sxtl v8.8h, v4.8b\n"                                                                          \
    EDGEC_NEON_WIDE_VALUE_8(K0, "v8")                                                              \
    "sxtl2 v10.8h, v4.16b\n"                                                                       \
    EDGEC_NEON_WIDE_VALUE_8(K1, "v10")                                                             \
    "sxtl v12.8h, v5.8b\n"                                                                         \
    EDGEC_NEON_WIDE_VALUE_8(K2, "v12")                                                             \
    "sxtl2 v14.8h, v5.16b\n"                                                                       \
    EDGEC_NEON_WIDE_VALUE_8(K3, "v14")
/* Values of four rows in registers of kind R, whose addresses are moved on. */
#define EDGEC_NEON_WIDE_VALUES(R, BYTES)                                                           \
    "ldr " R "0, [x8], " BYTES "\n"                                                                \
    "ldr " R "1, [x9], " BYTES "\n"                                                                \
    "ldr " R "2, [x10], " BYTES "\n"                                                               \
    "ldr " R "3, [x11], " BYTES "\n"
/* Pieces of a run: pairs of words, and a last word. */
#define EDGEC_NEON_WIDE_EIGHTS(WORD)                                                               \
    "mov w7, %w[eights]\n"                                                                         \
    "2:\n"                                                                                         \
    EDGEC_NEON_WIDE_VALUES("q", "#16")                                                             \
    WORD("0", "1", "2", "3")                                                                       \
    WORD("4", "5", "6", "7")                                                                       \
    "subs w7, w7, #1\n"                                                                            \
    "b.ne 2b\n"
#define EDGEC_NEON_WIDE_LAST(WORD)                                                                 \
    EDGEC_NEON_WIDE_VALUES("d", "#8")                                                              \
    WORD("0", "1", "2", "3")
#define EDGEC_NEON_WIDE_EIGHTS_16 EDGEC_NEON_WIDE_EIGHTS(EDGEC_NEON_WIDE_WORD_16)
#define EDGEC_NEON_WIDE_EIGHTS_8 EDGEC_NEON_WIDE_EIGHTS(EDGEC_NEON_WIDE_WORD_8)
#define EDGEC_NEON_WIDE_LAST_16 EDGEC_NEON_WIDE_LAST(EDGEC_NEON_WIDE_WORD_16)
#define EDGEC_NEON_WIDE_LAST_8 EDGEC_NEON_WIDE_LAST(EDGEC_NEON_WIDE_WORD_8)
#define EDGEC_NEON_WIDE_NEXT                                                                       \
    "add x8, x8, %[step]\n"                                                                        \
    "add x9, x9, %[step]\n"                                                                        \
    "add x10, x10, %[step]\n"                                                                      \
    "add x11, x11, %[step]\n"                                                                      \
    "subs w17, w17, #1\n"                                                                          \
    "b.ne 1b\n"
#define EDGEC_NEON_WIDE_NO_NEXT ""
#define EDGEC_NEON_WIDE_BEGIN                                                                      \
    "ldp x8, x9, [%[rows]]\n"                                                                      \
    "ldp x10, x11, [%[rows], #16]\n"                                                               \
    "mov w17, %w[lines]\n"
#define EDGEC_NEON_WIDE_INPUTS                                                                     \
    [rows] "r"(rows), [lines] "r"(lines), [eights] "r"(eights), [step] "r"(step), [bias] "r"(bias)
#define EDGEC_NEON_WIDE_CLOBBERS                                                                   \
    "x7", "x8", "x9", "x10", "x11", "x17", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",   \
    "v9", "v10", "v11", "v12", "v13", "v14", "v15", "cc", "memory"
#define EDGEC_NEON_WIDE_16(NAME, LINE, NEXT)                                                       \
EDGEC_INLINE edgec_neon_wide16_t NAME(const int8_t *const *rows, const int8_t *weights,            \
                                      int32_t stored, int32_t lines, int32_t eights, int64_t step, \
                                      const int32_t *bias) {                                       \
    edgec_neon_wide16_t tile;                                                                      \
    const int8_t *others = weights + stored;                                                       \
    __asm__ volatile(                                                                              \
        EDGEC_NEON_WIDE_BEGIN                                                                      \
        "ldp %q0, %q1, [%[bias]]\n"                                                                \
        "ldp %q2, %q3, [%[bias], #32]\n"                                                           \
        "ldp %q4, %q5, [%[bias]]\n"                                                                \
        "ldp %q6, %q7, [%[bias], #32]\n"                                                           \
        "ldp %q8, %q9, [%[bias]]\n"                                                                \
        "ldp %q10, %q11, [%[bias], #32]\n"                                                         \
        "ldp %q12, %q13, [%[bias]]\n"                                                              \
        "ldp %q14, %q15, [%[bias], #32]\n"                                                         \
        "1:\n"                                                                                     \
        LINE                                                                                       \
        NEXT                                                                                       \
        : "=&w"(tile.sum[0][0]), "=&w"(tile.sum[0][1]), "=&w"(tile.sum[0][2]), "=&w"(tile.sum[0][3]),\
          "=&w"(tile.sum[1][0]), "=&w"(tile.sum[1][1]), "=&w"(tile.sum[1][2]), "=&w"(tile.sum[1][3]),\
          "=&w"(tile.sum[2][0]), "=&w"(tile.sum[2][1]), "=&w"(tile.sum[2][2]), "=&w"(tile.sum[2][3]),\
          "=&w"(tile.sum[3][0]), "=&w"(tile.sum[3][1]), "=&w"(tile.sum[3][2]), "=&w"(tile.sum[3][3]),\
          [weights] "+&r"(weights), [others] "+&r"(others)                                         \
        : EDGEC_NEON_WIDE_INPUTS                                                                   \
        : EDGEC_NEON_WIDE_CLOBBERS);                                                               \
    return tile;                                                                                   \
}
#define EDGEC_NEON_WIDE_8(NAME, LINE, NEXT)                                                        \
EDGEC_INLINE edgec_neon_wide8_t NAME(const int8_t *const *rows, const int8_t *weights,             \
                                     int32_t stored, int32_t lines, int32_t eights, int64_t step,  \
                                     const int32_t *bias) {                                        \
    edgec_neon_wide8_t tile;                                                                       \
    (void)stored;                                                                                  \
    __asm__ volatile(                                                                              \
        EDGEC_NEON_WIDE_BEGIN                                                                      \
        "ldp %q0, %q1, [%[bias]]\n"                                                                \
        "ldp %q2, %q3, [%[bias]]\n"                                                                \
        "ldp %q4, %q5, [%[bias]]\n"                                                                \
        "ldp %q6, %q7, [%[bias]]\n"                                                                \
        "1:\n"                                                                                     \
        LINE                                                                                       \
        NEXT                                                                                       \
        : "=&w"(tile.sum[0][0]), "=&w"(tile.sum[0][1]), "=&w"(tile.sum[1][0]), "=&w"(tile.sum[1][1]),\
          "=&w"(tile.sum[2][0]), "=&w"(tile.sum[2][1]), "=&w"(tile.sum[3][0]), "=&w"(tile.sum[3][1]),\
          [weights] "+&r"(weights)                                                                 \
        : EDGEC_NEON_WIDE_INPUTS                                                                   \
        : EDGEC_NEON_WIDE_CLOBBERS);                                                               \
    return tile;                                                                                   \
}
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
#endif
