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

/* The sums of one run of blocks of int16 in planes (split_neon.h), without biases. */
EDGEC_INLINE edgec_neon_dot_t edgec_neon_dot1_split(const int8_t *high, int32_t plane,
                                                    const int8_t *weights, int32_t blocks) {
    const int32x4_t zero = vdupq_n_s32(0);
    int32x4_t high0 = zero;
    int32x4_t high1 = zero;
    int32x4_t low0 = zero;
    int32x4_t low1 = zero;
    const int8_t *const end = high + blocks * 16;
    do {
        const int8x16_t x = vld1q_s8(high);
        const int8x16_t z = vld1q_s8(high + plane);
#define EDGEC_NEON_DOT_SPLIT_WORD(K)                                                               \
    do {                                                                                           \
        const int8x16_t w0 = vld1q_s8(weights + 32 * (K));                                         \
        const int8x16_t w1 = vld1q_s8(weights + 32 * (K) + 16);                                    \
        high0 = vdotq_laneq_s32(high0, w0, x, K);                                                  \
        high1 = vdotq_laneq_s32(high1, w1, x, K);                                                  \
        low0 = vdotq_laneq_s32(low0, w0, z, K);                                                    \
        low1 = vdotq_laneq_s32(low1, w1, z, K);                                                    \
    } while (false)
        EDGEC_NEON_DOT_SPLIT_WORD(0);
        EDGEC_NEON_DOT_SPLIT_WORD(1);
        EDGEC_NEON_DOT_SPLIT_WORD(2);
        EDGEC_NEON_DOT_SPLIT_WORD(3);
#undef EDGEC_NEON_DOT_SPLIT_WORD
        high += 16;
        weights += EDGEC_NEON_DOT_BLOCK;
    } while (high != end);
    const edgec_neon_dot_t sums = {
        {{vaddq_s32(vshlq_n_s32(high0, 8), low0), vaddq_s32(vshlq_n_s32(high1, 8), low1)}}};
    return sums;
}

/* NAME: the sums of eight rows with eight filters, beginning with their biases.  `weights`: of
 * these filters, afterwards of the next ones.  A template defines it of pieces, which stand for the
 * blocks and the last words of a run (`LINE`), and of the loop over runs (`NEXT`).  `step`: bytes
 * from the end of the blocks of a run to the next run.
 *
 * In assembly, for all registers are in use: v16 to v31 hold sums.  Two blocks are a *pair*: one
 * instruction loads both vectors of a row.  Rows 4 to 7 are a block ahead of rows 0 to 3, so that
 * three vectors for every two rows are enough:
 *
 *     registers              v0-v3          v4-v7         v8-v11        v12-v15
 *     first block of a pair  rows 0-3       rows 0-3 of   rows 4-7      two words of weights
 *                                           the second
 *     second block           rows 4-7       rows 0-3      rows 4-7 of   two words of weights
 *                                                         the next
 */
/* clang-format off */
/* Word K of a row in register X with four filters in register LOW and four in HIGH. */
#define EDGEC_NEON_DOT_ROW(X, K, LOW, HIGH, A, B)                                                  \
    "sdot " A ".4s, " LOW ".16b, " X ".4b[" K "]\n"                                                \
    "sdot " B ".4s, " HIGH ".16b, " X ".4b[" K "]\n"
/* The rows in registers X0 to X7. */
#define EDGEC_NEON_DOT_WORD(K, LOW, HIGH, X0, X1, X2, X3, X4, X5, X6, X7)                          \
    EDGEC_NEON_DOT_ROW(X0, K, LOW, HIGH, "%0", "%1")                                               \
    EDGEC_NEON_DOT_ROW(X1, K, LOW, HIGH, "%2", "%3")                                               \
    EDGEC_NEON_DOT_ROW(X2, K, LOW, HIGH, "%4", "%5")                                               \
    EDGEC_NEON_DOT_ROW(X3, K, LOW, HIGH, "%6", "%7")                                               \
    EDGEC_NEON_DOT_ROW(X4, K, LOW, HIGH, "%8", "%9")                                               \
    EDGEC_NEON_DOT_ROW(X5, K, LOW, HIGH, "%10", "%11")                                             \
    EDGEC_NEON_DOT_ROW(X6, K, LOW, HIGH, "%12", "%13")                                             \
    EDGEC_NEON_DOT_ROW(X7, K, LOW, HIGH, "%14", "%15")
/* Rows 0 to 7 as in the first block of a pair, and as in the second. */
#define EDGEC_NEON_DOT_FIRST "v0", "v1", "v2", "v3", "v8", "v9", "v10", "v11"
#define EDGEC_NEON_DOT_SECOND "v4", "v5", "v6", "v7", "v0", "v1", "v2", "v3"
#define EDGEC_NEON_DOT_TWO_WEIGHTS "ld1 {v12.16b-v15.16b}, [%[weights]], #64\n"
#define EDGEC_NEON_DOT_ONE_WEIGHT "ldp q12, q13, [%[weights]], #32\n"
/* The registers of the rows come last: a list that is one macro is expanded first. */
#define EDGEC_NEON_DOT_WORD_OF(K, LOW, HIGH, ...) EDGEC_NEON_DOT_WORD(K, LOW, HIGH, __VA_ARGS__)
#define EDGEC_NEON_DOT_TWO_WORDS(K0, K1, ...)                                                      \
    EDGEC_NEON_DOT_TWO_WEIGHTS                                                                     \
    EDGEC_NEON_DOT_WORD_OF(K0, "v12", "v13", __VA_ARGS__)                                          \
    EDGEC_NEON_DOT_WORD_OF(K1, "v14", "v15", __VA_ARGS__)
#define EDGEC_NEON_DOT_BLOCK_OF(...)                                                               \
    EDGEC_NEON_DOT_TWO_WORDS("0", "1", __VA_ARGS__)                                                \
    EDGEC_NEON_DOT_TWO_WORDS("2", "3", __VA_ARGS__)
/* Four rows at [x8] to [x11], and at [x12] to [x15], to the registers v0 to v3, or to those from
 * Z0 on; then the addresses are moved on by STEP. */
#define EDGEC_NEON_DOT_LOW_ROWS(STEP)                                                              \
    "ld1 {v0.16b}, [x8], " STEP "\n"                                                               \
    "ld1 {v1.16b}, [x9], " STEP "\n"                                                               \
    "ld1 {v2.16b}, [x10], " STEP "\n"                                                              \
    "ld1 {v3.16b}, [x11], " STEP "\n"
#define EDGEC_NEON_DOT_HIGH_ROWS(Z0, Z1, Z2, Z3, STEP)                                             \
    "ld1 {" Z0 ".16b}, [x12], " STEP "\n"                                                          \
    "ld1 {" Z1 ".16b}, [x13], " STEP "\n"                                                          \
    "ld1 {" Z2 ".16b}, [x14], " STEP "\n"                                                          \
    "ld1 {" Z3 ".16b}, [x15], " STEP "\n"
#define EDGEC_NEON_DOT_FIRST_BLOCK                                                                 \
    "ldp q0, q4, [x8], #32\n"                                                                      \
    "ldp q1, q5, [x9], #32\n"                                                                      \
    "ldp q2, q6, [x10], #32\n"                                                                     \
    "ldp q3, q7, [x11], #32\n"                                                                     \
    EDGEC_NEON_DOT_BLOCK_OF(EDGEC_NEON_DOT_FIRST)
/* Pieces of a line: rows 4 to 7 of the first block; the pairs; the last block or the last two, of
 * an odd and an even number; the same at the end of a line that has no more words; one to three
 * more words.  A line without a block has words alone. */
#define EDGEC_NEON_DOT_BEGIN EDGEC_NEON_DOT_HIGH_ROWS("v8", "v9", "v10", "v11", "#16")
#define EDGEC_NEON_DOT_PAIR                                                                        \
    EDGEC_NEON_DOT_FIRST_BLOCK                                                                     \
    "ldp q0, q8, [x12], #32\n"                                                                     \
    "ldp q1, q9, [x13], #32\n"                                                                     \
    "ldp q2, q10, [x14], #32\n"                                                                    \
    "ldp q3, q11, [x15], #32\n"                                                                    \
    EDGEC_NEON_DOT_BLOCK_OF(EDGEC_NEON_DOT_SECOND)
#define EDGEC_NEON_DOT_PAIRS                                                                       \
    "mov w7, %w[pairs]\n"                                                                          \
    "2:\n"                                                                                         \
    EDGEC_NEON_DOT_PAIR                                                                            \
    "subs w7, w7, #1\n"                                                                            \
    "b.ne 2b\n"
#define EDGEC_NEON_DOT_ODD                                                                         \
    EDGEC_NEON_DOT_LOW_ROWS("#16")                                                                 \
    EDGEC_NEON_DOT_BLOCK_OF(EDGEC_NEON_DOT_FIRST)
#define EDGEC_NEON_DOT_EVEN                                                                        \
    EDGEC_NEON_DOT_FIRST_BLOCK                                                                     \
    EDGEC_NEON_DOT_HIGH_ROWS("v0", "v1", "v2", "v3", "#16")                                        \
    EDGEC_NEON_DOT_BLOCK_OF(EDGEC_NEON_DOT_SECOND)
#define EDGEC_NEON_DOT_ODD_END                                                                     \
    EDGEC_NEON_DOT_LOW_ROWS("%[last]")                                                             \
    EDGEC_NEON_DOT_BLOCK_OF(EDGEC_NEON_DOT_FIRST)                                                  \
    "add x12, x12, %[step]\n"                                                                      \
    "add x13, x13, %[step]\n"                                                                      \
    "add x14, x14, %[step]\n"                                                                      \
    "add x15, x15, %[step]\n"
#define EDGEC_NEON_DOT_EVEN_END                                                                    \
    EDGEC_NEON_DOT_FIRST_BLOCK                                                                     \
    EDGEC_NEON_DOT_HIGH_ROWS("v0", "v1", "v2", "v3", "%[last]")                                    \
    EDGEC_NEON_DOT_BLOCK_OF(EDGEC_NEON_DOT_SECOND)                                                 \
    "add x8, x8, %[step]\n"                                                                        \
    "add x9, x9, %[step]\n"                                                                        \
    "add x10, x10, %[step]\n"                                                                      \
    "add x11, x11, %[step]\n"
#define EDGEC_NEON_DOT_WORD_ROWS                                                                   \
    EDGEC_NEON_DOT_LOW_ROWS("%[step]")                                                             \
    EDGEC_NEON_DOT_HIGH_ROWS("v8", "v9", "v10", "v11", "%[step]")
#define EDGEC_NEON_DOT_WORDS_1                                                                     \
    EDGEC_NEON_DOT_WORD_ROWS                                                                       \
    EDGEC_NEON_DOT_ONE_WEIGHT                                                                      \
    EDGEC_NEON_DOT_WORD_OF("0", "v12", "v13", EDGEC_NEON_DOT_FIRST)
#define EDGEC_NEON_DOT_WORDS_2                                                                     \
    EDGEC_NEON_DOT_WORD_ROWS                                                                       \
    EDGEC_NEON_DOT_TWO_WORDS("0", "1", EDGEC_NEON_DOT_FIRST)
#define EDGEC_NEON_DOT_WORDS_3                                                                     \
    EDGEC_NEON_DOT_WORD_ROWS                                                                       \
    EDGEC_NEON_DOT_TWO_WORDS("0", "1", EDGEC_NEON_DOT_FIRST)                                       \
    EDGEC_NEON_DOT_ONE_WEIGHT                                                                      \
    EDGEC_NEON_DOT_WORD_OF("2", "v12", "v13", EDGEC_NEON_DOT_FIRST)
#define EDGEC_NEON_DOT_NEXT                                                                        \
    "subs w17, w17, #1\n"                                                                          \
    "b.ne 1b\n"
#define EDGEC_NEON_DOT_NO_NEXT ""
#define EDGEC_NEON_DOT8(NAME, LINE, NEXT)                                                          \
EDGEC_INLINE edgec_neon_dot_t NAME(const int8_t *const *rows, const int8_t **weights,              \
                                   int32_t lines, int32_t pairs, int64_t step,                     \
                                   const int32_t *bias) {                                          \
    edgec_neon_dot_t tile;                                                                         \
    const int8_t *from = *weights;                                                                 \
    __asm__ volatile(                                                                              \
        "ldp x8, x9, [%[rows]]\n"                                                                  \
        "ldp x10, x11, [%[rows], #16]\n"                                                           \
        "ldp x12, x13, [%[rows], #32]\n"                                                           \
        "ldp x14, x15, [%[rows], #48]\n"                                                           \
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
        LINE                                                                                       \
        NEXT                                                                                       \
        : "=&w"(tile.sum[0][0]), "=&w"(tile.sum[0][1]), "=&w"(tile.sum[1][0]), "=&w"(tile.sum[1][1]),\
          "=&w"(tile.sum[2][0]), "=&w"(tile.sum[2][1]), "=&w"(tile.sum[3][0]), "=&w"(tile.sum[3][1]),\
          "=&w"(tile.sum[4][0]), "=&w"(tile.sum[4][1]), "=&w"(tile.sum[5][0]), "=&w"(tile.sum[5][1]),\
          "=&w"(tile.sum[6][0]), "=&w"(tile.sum[6][1]), "=&w"(tile.sum[7][0]), "=&w"(tile.sum[7][1]),\
          [weights] "+&r"(from)                                                                    \
        : [rows] "r"(rows), [lines] "r"(lines), [pairs] "r"(pairs), [step] "r"(step),              \
          [last] "r"(step + 16), [bias] "r"(bias)                                                  \
        : "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x17",                       \
          "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",  \
          "v14", "v15", "cc", "memory");                                                           \
    *weights = from;                                                                               \
    return tile;                                                                                   \
}
/* The same of int16 in planes (split_neon.h), without biases: the sums of the high bytes, times 256,
 * then those of the low bytes, `plane` bytes from them. */
#define EDGEC_NEON_DOT_ADDRESSES                                                                   \
    "ldp x8, x9, [%[rows]]\n"                                                                      \
    "ldp x10, x11, [%[rows], #16]\n"                                                               \
    "ldp x12, x13, [%[rows], #32]\n"                                                               \
    "ldp x14, x15, [%[rows], #48]\n"                                                               \
    "mov w17, %w[lines]\n"
#define EDGEC_NEON_DOT_FOR_SUMS(INSTRUCTION)                                                       \
    INSTRUCTION("%0") INSTRUCTION("%1") INSTRUCTION("%2") INSTRUCTION("%3")                        \
    INSTRUCTION("%4") INSTRUCTION("%5") INSTRUCTION("%6") INSTRUCTION("%7")                        \
    INSTRUCTION("%8") INSTRUCTION("%9") INSTRUCTION("%10") INSTRUCTION("%11")                      \
    INSTRUCTION("%12") INSTRUCTION("%13") INSTRUCTION("%14") INSTRUCTION("%15")
#define EDGEC_NEON_DOT_CLEARED(SUM) "movi " SUM ".4s, #0\n"
#define EDGEC_NEON_DOT_SHIFTED(SUM) "shl " SUM ".4s, " SUM ".4s, #8\n"
#define EDGEC_NEON_DOT8_SPLIT(NAME, LINE, NEXT)                                                    \
EDGEC_INLINE edgec_neon_dot_t NAME(const int8_t *const *rows, const int8_t **weights,              \
                                   int32_t lines, int32_t pairs, int64_t step, int64_t plane) {    \
    edgec_neon_dot_t tile;                                                                         \
    const int8_t *from = *weights;                                                                 \
    __asm__ volatile(                                                                              \
        EDGEC_NEON_DOT_ADDRESSES                                                                   \
        EDGEC_NEON_DOT_FOR_SUMS(EDGEC_NEON_DOT_CLEARED)                                            \
        "1:\n"                                                                                     \
        LINE                                                                                       \
        NEXT                                                                                       \
        EDGEC_NEON_DOT_FOR_SUMS(EDGEC_NEON_DOT_SHIFTED)                                            \
        EDGEC_NEON_DOT_ADDRESSES                                                                   \
        "add x8, x8, %[plane]\n"                                                                   \
        "add x9, x9, %[plane]\n"                                                                   \
        "add x10, x10, %[plane]\n"                                                                 \
        "add x11, x11, %[plane]\n"                                                                 \
        "add x12, x12, %[plane]\n"                                                                 \
        "add x13, x13, %[plane]\n"                                                                 \
        "add x14, x14, %[plane]\n"                                                                 \
        "add x15, x15, %[plane]\n"                                                                 \
        "mov %[weights], %[first]\n"                                                               \
        "1:\n"                                                                                     \
        LINE                                                                                       \
        NEXT                                                                                       \
        : "=&w"(tile.sum[0][0]), "=&w"(tile.sum[0][1]), "=&w"(tile.sum[1][0]), "=&w"(tile.sum[1][1]),\
          "=&w"(tile.sum[2][0]), "=&w"(tile.sum[2][1]), "=&w"(tile.sum[3][0]), "=&w"(tile.sum[3][1]),\
          "=&w"(tile.sum[4][0]), "=&w"(tile.sum[4][1]), "=&w"(tile.sum[5][0]), "=&w"(tile.sum[5][1]),\
          "=&w"(tile.sum[6][0]), "=&w"(tile.sum[6][1]), "=&w"(tile.sum[7][0]), "=&w"(tile.sum[7][1]),\
          [weights] "+&r"(from)                                                                    \
        : [rows] "r"(rows), [lines] "r"(lines), [pairs] "r"(pairs), [step] "r"(step),              \
          [last] "r"(step + 16), [plane] "r"(plane), [first] "r"(*weights)                         \
        : "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x17",                       \
          "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",  \
          "v14", "v15", "cc", "memory");                                                           \
    *weights = from;                                                                               \
    return tile;                                                                                   \
}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
#endif
