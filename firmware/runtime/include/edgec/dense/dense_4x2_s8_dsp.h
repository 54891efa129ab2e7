/* Dot products of int8 with the DSP extension: four rows of x with two filters at a time, one
 * SXTB16 for four values instead of two.
 *
 * A word of a filter holds w0..w3.  With 128 added to w0 and w2 (their sign bits flipped), its
 * halves are the int16 V = 256 * w1 + (w0 + 128) and 256 * w3 + (w2 + 128), so that
 *
 *     V * x0 + w1 * (x1 - 256 * x0) = (w0 + 128) * x0 + w1 * x1,
 *
 * exactly.  One SMLAD multiplies the stored word (V of both halves) by (x0, x2), another one its
 * sign-extended upper bytes (w1, w3) by (x1 - 256 * x0, x3 - 256 * x2).  The excess of the result,
 * 128 * (x0 + x2 + ...), is the same for all filters: sums start at its negative.  The codes of x
 * must be in [-127, 127], so that x1 - 256 * x0 fits int16.
 *
 * Codes of any value have a second form of the rows, x1 - 256 * x0 - 128, which fits int16 for
 * every pair and takes fewer instructions: it is the bytes (x0, x1) as one number, all bits but the
 * low seven inverted.  The sums are then too small by 128 * (w1 + w3 + ...), the same for all rows,
 * which the biases include.
 *
 *     rows    [8 words]             initial values of the sums, twice for each of four rows
 *             [words][8 words]        words (x0, x2) of four rows, then their (x1 - 256 x0, ...)
 *     lines   [rows][words][2 words]  the same, one row after the other; rows may share words
 *     sums    [pairs of filters][4 rows][2 filters]
 */
#ifndef EDGEC_DENSE_DENSE_4X2_S8_DSP_H
#define EDGEC_DENSE_DENSE_4X2_S8_DSP_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/dense/dense_4x2_sums.h"
#include "edgec/dense/dense_4x2_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of x whose sums are computed together. */
#define EDGEC_DENSE_4X2_ROWS 4

/* Rows of a shorter block, which leaves out the row 2 of four. */
#define EDGEC_DENSE_4X2_FEWER 3

/* Bytes from a row to the next where four rows are interleaved word by word. */
#define EDGEC_DENSE_4X2_INTERLEAVED 4

/* Bytes from the int16 pairs of a word to those of the next word. */
#define EDGEC_DENSE_4X2_WORD(ROW) ((ROW) == EDGEC_DENSE_4X2_INTERLEAVED ? 32 : 8)

/* Flips the signs of the values 0 and 2 of a word. */
#define EDGEC_DENSE_4X2_SIGNS 0x00800080U

/* -128 twice. */
#define EDGEC_DENSE_4X2_MINUS_128 0xFF80FF80U

/* Widens a word of four values to int16: (x0, x2) to `to`, their odd neighbours after those of all
 * `rows`.  Returns `start` - 128 * (x0 + x2).  `minus_128`: EDGEC_DENSE_4X2_MINUS_128 in a
 * register.
 */
EDGEC_INLINE int32_t edgec_widen_word(uint32_t word, edgec_pair_t *to, int32_t rows,
                                      uint32_t minus_128, int32_t any, int32_t start) {
    const uint32_t even = edgec_sxtb16(word);
    to[0] = even;
    to[rows] = any ? edgec_swapped_bytes(word) ^ minus_128
                   : edgec_pair_minus(edgec_sxtb16_high(word), (word & 0x00FF00FFU) << 8);
    return edgec_pair_dot(even, minus_128, start);
}

/* Widens `words` * 4 values of one row to `to` and on.  Returns `start` - 128 * (sum of all x0 and
 * x2).  `any`, a constant: 1 for the second form of the rows. */
EDGEC_INLINE int32_t edgec_widen4_words(const int8_t *from, edgec_pair_t *to, int32_t words,
                                        int32_t any, int32_t start) {
    const uint32_t minus_128 = edgec_kept(EDGEC_DENSE_4X2_MINUS_128);
    for (; words >= 2; words -= 2, from += 8, to += 4 * EDGEC_DENSE_4X2_ROWS) {
        const uint32_t first = edgec_word_at(from);
        const uint32_t second = edgec_word_at(from + 4);
        start = edgec_widen_word(first, to, EDGEC_DENSE_4X2_ROWS, minus_128, any, start);
        start = edgec_widen_word(second, to + 2 * EDGEC_DENSE_4X2_ROWS, EDGEC_DENSE_4X2_ROWS,
                                 minus_128, any, start);
    }
    if (words > 0) {
        start =
            edgec_widen_word(edgec_word_at(from), to, EDGEC_DENSE_4X2_ROWS, minus_128, any, start);
    }
    return start;
}

/* Widens a run of one repeated value, such as padding; `word` holds it four times.  The result and
 * other arguments are those of edgec_widen4_words. */
EDGEC_INLINE int32_t edgec_fill4_words(uint32_t word, edgec_pair_t *to, int32_t words, int32_t any,
                                       int32_t start) {
    const uint32_t minus_128 = edgec_kept(EDGEC_DENSE_4X2_MINUS_128);
    for (; words > 0; words--, to += 2 * EDGEC_DENSE_4X2_ROWS) {
        start = edgec_widen_word(word, to, EDGEC_DENSE_4X2_ROWS, minus_128, any, start);
    }
    return start;
}

/* Sets the initial value of the sums of row number `row` to `start`. */
EDGEC_INLINE void edgec_start4(edgec_pair_t *rows, int32_t row, int32_t start) {
    rows[2 * row] = (uint32_t)start;
    rows[2 * row + 1] = (uint32_t)start;
}

/* Widens all `words` * 4 values of row number `row`, and sets the initial value of its sums. */
EDGEC_INLINE void edgec_widen4_as(const int8_t *from, edgec_pair_t *rows, int32_t row,
                                  int32_t words, int32_t any) {
    edgec_pair_t *const to = rows + 2 * EDGEC_DENSE_4X2_ROWS + row;
    edgec_start4(rows, row, edgec_widen4_words(from, to, words, any, 0));
}

/* Widens a row in the first form, for codes in [-127, 127]. */
EDGEC_INLINE void edgec_widen4(const int8_t *from, edgec_pair_t *rows, int32_t row, int32_t words) {
    edgec_widen4_as(from, rows, row, words, 0);
}

/* Widens a row in the second form, for codes of any value: biases include 128 times the sum of the
 * weights 1, 3, 5, ... */
EDGEC_INLINE void edgec_widen4_any(const int8_t *from, edgec_pair_t *rows, int32_t row,
                                   int32_t words) {
    edgec_widen4_as(from, rows, row, words, 1);
}

/* Widens four rows in the second form; they begin at `from` and at `step`, 2 * `step` and `last`
 * bytes after it, and have at least one word. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A word of each row.  Registers: -128 twice in lr, the words in r4-r7, the initial values of the
 * sums in r8-r11. */
#define EDGEC_WIDEN4_ROW(WORD, START, EVEN, ODD)                                                   \
    "sxtb16 r12, " WORD "\n"                                                                       \
    "rev16 " WORD ", " WORD "\n"                                                                   \
    "smlad " START ", r12, lr, " START "\n"                                                        \
    "eor " WORD ", " WORD ", lr\n"                                                                 \
    "str r12, [r1" EVEN "\n"                                                                       \
    "str " WORD ", [r1, #" ODD "]\n"

/* Stack: the last one of the widened words, and their beginning.  The code is kept short: each line
 * of a small instruction cache that it displaces is loaded again for each block. */
EDGEC_IN_LINES void edgec_widen4_block(const int8_t *from, edgec_pair_t *rows, int32_t words,
                                       int32_t step, int32_t last) {
    register const int8_t *x __asm__("r0") = from;
    register edgec_pair_t *to __asm__("r1") = rows;
    register int32_t first __asm__("r2") = step;
    register int32_t second __asm__("r3") = last;
    register int32_t n __asm__("r12") = words;
    __asm__ volatile(
        "push {r1, r4-r11, lr}\n"
        "add r4, r1, r12, lsl #5\n"
        "add r1, r1, #32\n"
        "mov r8, #0\n"
        "mov r9, #0\n"
        "mov r10, #0\n"
        "mov r11, #0\n"
        "mvn lr, #0x007F007F\n"
        "push {r4}\n"
        ".p2align 2\n"
        "1:\n"
        "ldr r5, [r0, r2]\n"
        "ldr r6, [r0, r2, lsl #1]\n"
        "ldr r7, [r0, r3]\n"
        "ldr r12, [sp]\n"
        "ldr r4, [r0], #4\n"
        "cmp r1, r12\n"
        EDGEC_WIDEN4_ROW("r4", "r8", "], #32", "-16")
        EDGEC_WIDEN4_ROW("r5", "r9", ", #-28]", "-12")
        EDGEC_WIDEN4_ROW("r6", "r10", ", #-24]", "-8")
        EDGEC_WIDEN4_ROW("r7", "r11", ", #-20]", "-4")
        "bne 1b\n"
        "pop {r12}\n"
        "pop {r1}\n"
        "str r8, [r1]\n"
        "str r8, [r1, #4]\n"
        "str r9, [r1, #8]\n"
        "str r9, [r1, #12]\n"
        "str r10, [r1, #16]\n"
        "str r10, [r1, #20]\n"
        "str r11, [r1, #24]\n"
        "str r11, [r1, #28]\n"
        "pop {r4-r11, lr}\n"
        : "+r"(x), "+r"(to), "+r"(first), "+r"(second), "+r"(n)
        :
        : "memory", "cc");
}
/* clang-format on */
#else
EDGEC_INLINE void edgec_widen4_block(const int8_t *from, edgec_pair_t *rows, int32_t words,
                                     int32_t step, int32_t last) {
    for (int32_t row = 0; row < EDGEC_DENSE_4X2_ROWS; row++) {
        const int32_t place = (row == EDGEC_DENSE_4X2_ROWS - 1) ? last : row * step;
        edgec_widen4_any(from + place, rows, row, words);
    }
}
#endif

/* The same for rows of `channels` bytes that end within a word; no byte is read after them.
 * `patch` has room for a row filled up to whole words. */
EDGEC_SEPARATE void edgec_widen4_filled(const int8_t *from, edgec_pair_t *rows, int32_t words,
                                        int32_t step, int32_t last, int32_t channels,
                                        int8_t *patch) {
    /* Weights beyond the last one are zero; their operands must only be defined. */
    memset(patch + channels, 0, (size_t)(4 * words - channels));
    for (int32_t row = 0; row < EDGEC_DENSE_4X2_ROWS; row++) {
        const int32_t place = (row == EDGEC_DENSE_4X2_ROWS - 1) ? last : row * step;
        memcpy(patch, from + place, (size_t)channels);
        edgec_widen4_any(patch, rows, row, words);
    }
}

/* Defines NAME(filters, rows, sums, pairs): dot products of 2 * `pairs` filters with four rows.
 *
 * WORDS: words of a filter; a turn of the loop takes UNROLLED of them, and the remainder comes
 * first.  SECOND: bytes from a word to that of the pair's second filter; STEP: to the next word;
 * NEXT: from one pair of filters to the next.  FLIP: 1 where the signs of a filter's values 0 and 2
 * have not been flipped in memory.  DUAL: 1 for a
 * core that issues a load and a product in one cycle; then 8 bytes after the rows are read, too. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Registers: sums in r4-r11, words of the filters in r2 and r3, of rows in r12 and lr.  Stack: the
 * end of the rows, the address of the next sums, and the number of pairs left. */
#define EDGEC_DENSE_4X2(NAME, WORDS, UNROLLED, SECOND, STEP, NEXT, FLIP, DUAL)                      \
    __attribute__((noinline, unused)) static void NAME(                                            \
        const int8_t *filters, const edgec_pair_t *rows, edgec_s32_t *sums, int32_t pairs) {       \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = rows;                                       \
        register edgec_s32_t *s __asm__("r2") = sums;                                              \
        register int32_t n __asm__("r3") = pairs;                                                  \
        __asm__ volatile(                                                                          \
            "push {r1-r11, lr}\n"                                                                  \
            "movw r12, #(%c[words] * 32 + 32)\n"                                                   \
            "add r12, r12, r1\n"                                                                   \
            "str r12, [sp]\n"                                                                      \
            "1:\n"                                                                                 \
            "ldm r1!, {r4-r11}\n"                                                                  \
            EDGEC_DENSE_4X2_LOOP                                                                    \
            "ldrd r12, lr, [sp, #4]\n"                                                             \
            "stm r12!, {r4-r11}\n"                                                                 \
            "movw r2, #(%c[words] * 32 + 32)\n"                                                    \
            "sub r1, r1, r2\n"                                                                     \
            ".if %c[next] - %c[words] * %c[step]\n"                                                \
            "movw r2, #(%c[next] - %c[words] * %c[step])\n"                                        \
            "add r0, r0, r2\n"                                                                     \
            ".endif\n"                                                                             \
            "subs lr, lr, #1\n"                                                                    \
            "strd r12, lr, [sp, #4]\n"                                                             \
            "bne 1b\n"                                                                             \
            "pop {r1-r11, lr}\n"                                                                   \
            : "+r"(w), "+r"(x), "+r"(s), "+r"(n)                                                   \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [second] "i"(SECOND),                  \
              [step] "i"(STEP), [next] "i"(NEXT), [flip] "i"(FLIP), [dual] "i"(DUAL),              \
              [row] "i"(4), [word] "i"(32), [four] "i"(1)                                          \
            : "r12", "memory", "cc");                                                              \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_4X2(NAME, WORDS, UNROLLED, SECOND, STEP, NEXT, FLIP, DUAL)                     \
    EDGEC_INLINE void NAME(const int8_t *filters, const edgec_pair_t *rows, edgec_s32_t *sums,     \
                           int32_t pairs) {                                                        \
        for (int32_t pair = 0; pair < pairs; pair++, sums += 2 * EDGEC_DENSE_4X2_ROWS) {           \
            const edgec_dense_4x2_from_t from = {                                                  \
                .filters = filters + pair * (NEXT),                                                \
                .second = SECOND,                                                                  \
                .step = STEP,                                                                      \
                .rows = rows + 2 * EDGEC_DENSE_4X2_ROWS,                                           \
                .row = 1,                                                                          \
                .next = 2 * EDGEC_DENSE_4X2_ROWS,                                                  \
                .words = WORDS,                                                                    \
                .flip = (FLIP) ? EDGEC_DENSE_4X2_SIGNS : 0U,                                       \
                .tall = EDGEC_DENSE_4X2_ROWS,                                                      \
            };                                                                                     \
            memcpy(sums, rows, 2 * EDGEC_DENSE_4X2_ROWS * sizeof *sums);                           \
            edgec_dense_4x2_add(&from, sums);                                                      \
        }                                                                                          \
    }
#endif

#ifdef __cplusplus
}
#endif

#endif
