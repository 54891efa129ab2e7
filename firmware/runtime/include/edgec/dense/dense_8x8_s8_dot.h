/* Dot products of int8 with NEON's SDOT: eight rows of x with eight filters at a time.
 *
 * One instruction adds four products to each of four int32 lanes: four weights of four filters with
 * four values of one row.  A *block* is four such words, 16 values deep; a run may end in one to
 * three words:
 *
 *     weights      [lines][words][8 filters][4]    edgec/kernels/neon/dense_8x8_s8_dot
 *     rows         anywhere in memory, as `lines` runs, read in vectors of 16 values
 *
 * Weights that are no weights of a filter are zero, and meet any value of x.  Only kernels for
 * cores with dot products use these functions; there is no C form: tests run them in an emulator.
 */
#ifndef EDGEC_DENSE_DENSE_8X8_S8_DOT_H
#define EDGEC_DENSE_DENSE_8X8_S8_DOT_H

#if defined(__ARM_FEATURE_DOTPROD)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the weights of a block. */
#define EDGEC_NEON_DOT_BLOCK 128

/* The sums of eight rows with eight filters, four by four. */
typedef struct edgec_neon_dot {
    int32x4_t sum[8][2];
} edgec_neon_dot_t;

/* The sums of one run of blocks with eight filters, beginning with their biases. */
EDGEC_INLINE edgec_neon_dot_t edgec_neon_dot1(const int8_t *row, const int8_t *weights,
                                              int32_t blocks, const int32_t *bias) {
    int32x4_t low = vld1q_s32(bias);
    int32x4_t high = vld1q_s32(bias + 4);
    const int8_t *const end = weights + blocks * EDGEC_NEON_DOT_BLOCK;
    do {
        const int8x16_t x = vld1q_s8(row);
        low = vdotq_laneq_s32(low, vld1q_s8(weights), x, 0);
        high = vdotq_laneq_s32(high, vld1q_s8(weights + 16), x, 0);
        low = vdotq_laneq_s32(low, vld1q_s8(weights + 32), x, 1);
        high = vdotq_laneq_s32(high, vld1q_s8(weights + 48), x, 1);
        low = vdotq_laneq_s32(low, vld1q_s8(weights + 64), x, 2);
        high = vdotq_laneq_s32(high, vld1q_s8(weights + 80), x, 2);
        low = vdotq_laneq_s32(low, vld1q_s8(weights + 96), x, 3);
        high = vdotq_laneq_s32(high, vld1q_s8(weights + 112), x, 3);
        row += 16;
        weights += EDGEC_NEON_DOT_BLOCK;
    } while (weights != end);
    const edgec_neon_dot_t sums = {{{low, high}}};
    return sums;
}

/* The sums of eight rows with eight filters, beginning with their biases; edgec_neon_dot8_1, _2 and
 * _3 of runs that end in one, two and three words.  `step`: bytes from the end of the blocks of a
 * run to the next run.  In assembly, for all registers are in use. */
/* clang-format off */
/* Word K of a row in register X with four filters in register LOW and four in HIGH. */
#define EDGEC_NEON_DOT_ROW(X, K, LOW, HIGH, A, B)                                                  \
    "sdot " A ".4s, " LOW ".16b, " X ".4b[" K "]\n"                                                \
    "sdot " B ".4s, " HIGH ".16b, " X ".4b[" K "]\n"
#define EDGEC_NEON_DOT_WORD(K, LOW, HIGH)                                                          \
    EDGEC_NEON_DOT_ROW("v0", K, LOW, HIGH, "%0", "%1")                                             \
    EDGEC_NEON_DOT_ROW("v1", K, LOW, HIGH, "%2", "%3")                                             \
    EDGEC_NEON_DOT_ROW("v2", K, LOW, HIGH, "%4", "%5")                                             \
    EDGEC_NEON_DOT_ROW("v3", K, LOW, HIGH, "%6", "%7")                                             \
    EDGEC_NEON_DOT_ROW("v4", K, LOW, HIGH, "%8", "%9")                                             \
    EDGEC_NEON_DOT_ROW("v5", K, LOW, HIGH, "%10", "%11")                                           \
    EDGEC_NEON_DOT_ROW("v6", K, LOW, HIGH, "%12", "%13")                                           \
    EDGEC_NEON_DOT_ROW("v7", K, LOW, HIGH, "%14", "%15")
/* The last words of a run. */
#define EDGEC_NEON_DOT_LAST_ROWS                                                                   \
    "ldr q0, [x8]\n"                                                                               \
    "ldr q1, [x9]\n"                                                                               \
    "ldr q2, [x10]\n"                                                                              \
    "ldr q3, [x11]\n"                                                                              \
    "ldr q4, [x12]\n"                                                                              \
    "ldr q5, [x13]\n"                                                                              \
    "ldr q6, [x14]\n"                                                                              \
    "ldr q7, [x15]\n"                                                                              \
    "ldp q8, q9, [x16], #32\n"                                                                     \
    EDGEC_NEON_DOT_WORD("0", "v8", "v9")
#define EDGEC_NEON_DOT_LAST_WORD(K)                                                                \
    "ldp q8, q9, [x16], #32\n"                                                                     \
    EDGEC_NEON_DOT_WORD(K, "v8", "v9")
#define EDGEC_NEON_DOT8(NAME, SKIP, LAST)                                                          \
EDGEC_INLINE edgec_neon_dot_t NAME(const int8_t *const *rows, const int8_t *weights,               \
                                   int32_t lines, int32_t blocks, int64_t step,                    \
                                   const int32_t *bias) {                                          \
    edgec_neon_dot_t tile;                                                                         \
    __asm__ volatile(                                                                              \
        "ldp x8, x9, [%[rows]]\n"                                                                  \
        "ldp x10, x11, [%[rows], #16]\n"                                                           \
        "ldp x12, x13, [%[rows], #32]\n"                                                           \
        "ldp x14, x15, [%[rows], #48]\n"                                                           \
        "mov x16, %[weights]\n"                                                                    \
        "mov w17, %w[lines]\n"                                                                     \
        "ldp %q0, %q1, [%[bias]]\n"                                                                \
        "ldp %q2, %q3, [%[bias]]\n"                                                                \
        "ldp %q4, %q5, [%[bias]]\n"                                                                \
        "ldp %q6, %q7, [%[bias]]\n"                                                                \
        "ldp %q8, %q9, [%[bias]]\n"                                                                \
        "ldp %q10, %q11, [%[bias]]\n"                                                              \
        "ldp %q12, %q13, [%[bias]]\n"                                                              \
        "ldp %q14, %q15, [%[bias]]\n"                                                              \
        "1:\n"                                                                                     \
        "mov w7, %w[blocks]\n"                                                                     \
        SKIP                                                                                       \
        "2:\n"                                                                                     \
        "ldp q10, q11, [x16, #32]\n"                                                               \
        "ldp q12, q13, [x16, #64]\n"                                                               \
        "ldp q14, q15, [x16, #96]\n"                                                               \
        "ldp q8, q9, [x16], #128\n"                                                                \
        "ldr q0, [x8], #16\n"                                                                      \
        "ldr q1, [x9], #16\n"                                                                      \
        "ldr q2, [x10], #16\n"                                                                     \
        "ldr q3, [x11], #16\n"                                                                     \
        "ldr q4, [x12], #16\n"                                                                     \
        "ldr q5, [x13], #16\n"                                                                     \
        "ldr q6, [x14], #16\n"                                                                     \
        "ldr q7, [x15], #16\n"                                                                     \
        EDGEC_NEON_DOT_WORD("0", "v8", "v9")                                                       \
        EDGEC_NEON_DOT_WORD("1", "v10", "v11")                                                     \
        EDGEC_NEON_DOT_WORD("2", "v12", "v13")                                                     \
        EDGEC_NEON_DOT_WORD("3", "v14", "v15")                                                     \
        "subs w7, w7, #1\n"                                                                        \
        "b.ne 2b\n"                                                                                \
        "4:\n"                                                                                     \
        LAST                                                                                       \
        "subs w17, w17, #1\n"                                                                      \
        "b.eq 3f\n"                                                                                \
        "add x8, x8, %[step]\n"                                                                    \
        "add x9, x9, %[step]\n"                                                                    \
        "add x10, x10, %[step]\n"                                                                  \
        "add x11, x11, %[step]\n"                                                                  \
        "add x12, x12, %[step]\n"                                                                  \
        "add x13, x13, %[step]\n"                                                                  \
        "add x14, x14, %[step]\n"                                                                  \
        "add x15, x15, %[step]\n"                                                                  \
        "b 1b\n"                                                                                   \
        "3:\n"                                                                                     \
        : "=&w"(tile.sum[0][0]), "=&w"(tile.sum[0][1]), "=&w"(tile.sum[1][0]), "=&w"(tile.sum[1][1]),\
          "=&w"(tile.sum[2][0]), "=&w"(tile.sum[2][1]), "=&w"(tile.sum[3][0]), "=&w"(tile.sum[3][1]),\
          "=&w"(tile.sum[4][0]), "=&w"(tile.sum[4][1]), "=&w"(tile.sum[5][0]), "=&w"(tile.sum[5][1]),\
          "=&w"(tile.sum[6][0]), "=&w"(tile.sum[6][1]), "=&w"(tile.sum[7][0]), "=&w"(tile.sum[7][1])\
        : [rows] "r"(rows), [weights] "r"(weights), [lines] "r"(lines), [blocks] "r"(blocks),      \
          [step] "r"(step), [bias] "r"(bias)                                                       \
        : "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",                \
          "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",  \
          "v14", "v15", "cc", "memory");                                                           \
    return tile;                                                                                   \
}
#define EDGEC_NEON_DOT_SKIP "cbz w7, 4f\n"
EDGEC_NEON_DOT8(edgec_neon_dot8, "", "")
EDGEC_NEON_DOT8(edgec_neon_dot8_1, EDGEC_NEON_DOT_SKIP, EDGEC_NEON_DOT_LAST_ROWS)
EDGEC_NEON_DOT8(edgec_neon_dot8_2, EDGEC_NEON_DOT_SKIP,
                EDGEC_NEON_DOT_LAST_ROWS EDGEC_NEON_DOT_LAST_WORD("1"))
EDGEC_NEON_DOT8(edgec_neon_dot8_3, EDGEC_NEON_DOT_SKIP,
                EDGEC_NEON_DOT_LAST_ROWS EDGEC_NEON_DOT_LAST_WORD("1")
                EDGEC_NEON_DOT_LAST_WORD("2"))
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
#endif
