/* Dot products with the DSP extension: one row of x with four filters of int8 at a time.
 *
 * Rows of int8 have the arithmetic of dense_4x2_s8_dsp.h for codes of any value: the signs of the
 * values 0 and 2 of each word of a filter are flipped in memory, and biases include 128 times the
 * sum of its odd weights.  Of int16, weights lie as in dense_2x2_s16_dsp.h, as w0, w2, w1, w3:
 * SXTB16 makes them the pairs that x lies in.
 *
 *     row      [1 word]                initial value of the sums, one number for all filters
 *              [words][2 words]        of int8 the word (x0, x2), then (x1 - 256 x0 - 128, ...);
 *                                      of int16 (x0, x1), then (x2, x3)
 *     filters  [fours][words][4 filters][4 bytes]
 *     sums     [fours][4 filters]
 */
#ifndef EDGEC_DENSE_DENSE_1X4_DSP_H
#define EDGEC_DENSE_DENSE_1X4_DSP_H

#include <stdint.h>

#include "edgec/dense/dense_4x2_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Filters whose sums are computed together. */
#define EDGEC_DENSE_1X4_FILTERS 4

/* Widens `words` * 4 values, and `rest`, 0 to 3, that a word of zeros is filled with. */
EDGEC_INLINE void edgec_widen1(const int8_t *from, edgec_pair_t *row, int32_t words, int32_t rest) {
    const uint32_t minus_128 = edgec_kept(EDGEC_DENSE_4X2_MINUS_128);
    edgec_pair_t *to = row + 1;
    int32_t start = 0;
    for (int32_t i = 0; i < words; i++, from += 4, to += 2) {
        start = edgec_widen_word(edgec_word_at(from), to, 1, minus_128, 1, start);
    }
    if (rest > 0) {
        uint32_t word = 0;
        memcpy(&word, from, (size_t)rest);
        start = edgec_widen_word(word, to, 1, minus_128, 1, start);
    }
    row[0] = (uint32_t)start;
}

/* Copies `words` * 4 values of int16, and `rest`, 0 to 3, that a word of zeros is filled with. */
EDGEC_INLINE void edgec_copy1(const int16_t *from, edgec_pair_t *row, int32_t words, int32_t rest) {
    edgec_pair_t *to = row + 1;
    row[0] = 0;
    for (int32_t i = 0; i < words; i++, from += 4, to += 2) {
        const uint32_t first = edgec_word_at(from);
        const uint32_t second = edgec_word_at(from + 2);
        to[0] = first;
        to[1] = second;
    }
    if (rest > 0) {
        uint32_t pairs[2] = {0, 0};
        memcpy(pairs, from, (size_t)rest * sizeof *from);
        to[0] = pairs[0];
        to[1] = pairs[1];
    }
}

/* Defines NAME(filters, row, sums, fours): dot products of the row with 4 * `fours` filters.
 *
 * WORDS: words of a filter; a turn of the loop takes UNROLLED of them, and the remainder comes
 * first.  DUAL: 1 for a core that issues a load and a product in one cycle; then 16 bytes
 * after the filters and 8 bytes after the row are read, too.  S16: 1 for rows of int16, on
 * such a core only: dense_1x4_pairs_dsp.h is faster elsewhere. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A word of four filters.  Loads stand together: the later ones take one cycle on Cortex-M4. */
#define EDGEC_DENSE_1X4_GROUPED                                                                     \
    "ldr r9, [r1, #4]\n"                                                                           \
    "ldr r8, [r1], #8\n"                                                                           \
    "ldr r3, [r0, #4]\n"                                                                           \
    "ldr r12, [r0, #8]\n"                                                                          \
    "ldr lr, [r0, #12]\n"                                                                          \
    "ldr r2, [r0], #16\n"                                                                          \
    "smlad r4, r2, r8, r4\n"                                                                       \
    "smlad r5, r3, r8, r5\n"                                                                       \
    "smlad r6, r12, r8, r6\n"                                                                      \
    "smlad r7, lr, r8, r7\n"                                                                       \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "sxtb16 r12, r12, ror #8\n"                                                                    \
    "sxtb16 lr, lr, ror #8\n"                                                                      \
    "smlad r4, r2, r9, r4\n"                                                                       \
    "smlad r5, r3, r9, r5\n"                                                                       \
    "smlad r6, r12, r9, r6\n"                                                                      \
    "smlad r7, lr, r9, r7\n"

/* The same for a core that issues two instructions: each product is paired with another
 * instruction, and operands of the next word are loaded as soon as their registers are free. */
#define EDGEC_DENSE_1X4_DUAL                                                                        \
    "smlad r4, r2, r8, r4\n"                                                                       \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "smlad r5, r3, r8, r5\n"                                                                       \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "smlad r6, r12, r8, r6\n"                                                                      \
    "sxtb16 r12, r12, ror #8\n"                                                                    \
    "smlad r7, lr, r8, r7\n"                                                                       \
    "ldr r8, [r1, #8]!\n"                                                                          \
    "sxtb16 lr, lr, ror #8\n"                                                                      \
    "smlad r4, r2, r9, r4\n"                                                                       \
    "ldr r2, [r0, #16]!\n"                                                                         \
    "smlad r5, r3, r9, r5\n"                                                                       \
    "ldr r3, [r0, #4]\n"                                                                           \
    "smlad r6, r12, r9, r6\n"                                                                      \
    "ldr r12, [r0, #8]\n"                                                                          \
    "smlad r7, lr, r9, r7\n"                                                                       \
    "ldr r9, [r1, #4]\n"                                                                           \
    "ldr lr, [r0, #12]\n"

/* Of int16: both halves of a word of weights are widened. */
#define EDGEC_DENSE_1X4_DUAL_S16                                                                   \
    "sxtb16 r11, r2\n"                                                                             \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "smlad r4, r11, r8, r4\n"                                                                      \
    "sxtb16 r11, r3\n"                                                                             \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "smlad r5, r11, r8, r5\n"                                                                      \
    "sxtb16 r11, r12\n"                                                                            \
    "smlad r4, r2, r9, r4\n"                                                                       \
    "ldr r2, [r0, #16]!\n"                                                                         \
    "smlad r6, r11, r8, r6\n"                                                                      \
    "sxtb16 r12, r12, ror #8\n"                                                                    \
    "smlad r5, r3, r9, r5\n"                                                                       \
    "ldr r3, [r0, #4]\n"                                                                           \
    "sxtb16 r11, lr\n"                                                                             \
    "sxtb16 lr, lr, ror #8\n"                                                                      \
    "smlad r7, r11, r8, r7\n"                                                                      \
    "ldr r8, [r1, #8]!\n"                                                                          \
    "smlad r6, r12, r9, r6\n"                                                                      \
    "ldr r12, [r0, #8]\n"                                                                          \
    "smlad r7, lr, r9, r7\n"                                                                       \
    "ldr r9, [r1, #4]\n"                                                                           \
    "ldr lr, [r0, #12]\n"

#define EDGEC_DENSE_1X4_WORD                                                                       \
    ".if %c[dual]\n"                                                                               \
    ".if %c[s16]\n" EDGEC_DENSE_1X4_DUAL_S16 ".else\n" EDGEC_DENSE_1X4_DUAL ".endif\n"             \
    ".else\n"                                                                                      \
    EDGEC_DENSE_1X4_GROUPED                                                                        \
    ".endif\n"

/* Registers: sums in r4-r7, a word of each filter in r2, r3, r12 and lr, words of the row in r8 and
 * r9, the end of the row in r10, the initial value of the sums in r11, of
 * int16 a widened half instead, as they start at 0.  Stack: the row, the address
 * of the next sums, and the number of fours left. */
#define EDGEC_DENSE_1X4(NAME, WORDS, UNROLLED, DUAL, S16)                                                \
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *row, edgec_s32_t *sums,    \
                             int32_t fours) {                                                      \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = row;                                        \
        register edgec_s32_t *s __asm__("r2") = sums;                                              \
        register int32_t n __asm__("r3") = fours;                                                  \
        __asm__ volatile(                                                                          \
            "push {r1-r11, lr}\n"                                                                  \
            "ldr r11, [r1], #4\n"                                                                  \
            "str r1, [sp]\n"                                                                       \
            "movw r10, #(%c[words] * 8)\n"                                                         \
            "add r10, r10, r1\n"                                                                   \
            ".if %c[dual]\n"                                                                       \
            "ldr r2, [r0]\n"                                                                       \
            "ldr r3, [r0, #4]\n"                                                                   \
            "ldr r12, [r0, #8]\n"                                                                  \
            "ldr lr, [r0, #12]\n"                                                                  \
            ".endif\n"                                                                             \
            "1:\n"                                                                                 \
            ".if %c[dual]\n"                                                                       \
            "ldr r8, [r1]\n"                                                                       \
            "ldr r9, [r1, #4]\n"                                                                   \
            ".endif\n"                                                                             \
            ".if %c[s16]\n"                                                                        \
            "mov r11, #0\n"                                                                        \
            ".endif\n"                                                                             \
            "mov r4, r11\n"                                                                        \
            "mov r5, r11\n"                                                                        \
            "mov r6, r11\n"                                                                        \
            "mov r7, r11\n"                                                                        \
            ".rept %c[words] %% %c[unrolled]\n"                                                    \
            EDGEC_DENSE_1X4_WORD                                                                   \
            ".endr\n"                                                                              \
            ".if %c[words] / %c[unrolled] - 1\n"                                                   \
            ".p2align 2\n"                                                                         \
            ".endif\n"                                                                             \
            "2:\n"                                                                                 \
            ".rept %c[unrolled]\n"                                                                 \
            EDGEC_DENSE_1X4_WORD                                                                   \
            ".endr\n"                                                                              \
            ".if %c[words] / %c[unrolled] - 1\n"                                                   \
            "cmp r1, r10\n"                                                                        \
            "bne 2b\n"                                                                             \
            ".endif\n"                                                                             \
            "ldrd r8, r9, [sp, #4]\n"                                                              \
            "ldr r1, [sp]\n"                                                                       \
            "stm r8!, {r4-r7}\n"                                                                   \
            "subs r9, r9, #1\n"                                                                    \
            "strd r8, r9, [sp, #4]\n"                                                              \
            "bne 1b\n"                                                                             \
            "pop {r1-r11, lr}\n"                                                                   \
            : "+r"(w), "+r"(x), "+r"(s), "+r"(n)                                                   \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [dual] "i"(DUAL), [s16] "i"(S16)                       \
            : "r12", "memory", "cc");                                                              \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_1X4(NAME, WORDS, UNROLLED, DUAL, S16)                                          \
    EDGEC_INLINE void NAME(const int8_t *filters, const edgec_pair_t *row, edgec_s32_t *sums,      \
                           int32_t fours) {                                                        \
        for (int32_t i = 0; i < fours * EDGEC_DENSE_1X4_FILTERS; i++) {                            \
            const int8_t *const filter = filters + i / 4 * (16 * (WORDS)) + i % 4 * 4;             \
            sums[i] = edgec_dense_1x4_dot(filter, row + 1, WORDS, (int32_t)row[0], S16);           \
        }                                                                                          \
    }

/* One sum of the above. */
EDGEC_INLINE int32_t edgec_dense_1x4_dot(const int8_t *filter, const edgec_pair_t *row,
                                         int32_t words, int32_t start, int32_t s16) {
    int32_t sum = start;
    for (int32_t i = 0; i < words; i++, row += 2) {
        const uint32_t word = edgec_word_at(filter + 16 * i);
        sum = edgec_pair_dot(s16 ? edgec_sxtb16(word) : word, row[0], sum);
        sum = edgec_pair_dot(edgec_sxtb16_high(word), row[1], sum);
    }
    return sum;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
