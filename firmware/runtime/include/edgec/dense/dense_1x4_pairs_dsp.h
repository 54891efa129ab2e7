/* Dot products with the DSP extension: one row of int16 with four filters of int8 at a time.
 *
 * Two filters a and b lie in one: the half word 256 a + b of a column, so no a is -128.  SMLALD
 * sums x (256 a + b) in 64 bits, where an SMLAD after SXTB16 sums x b: the difference is 256 times
 * the sum of x a.  That is one instruction less for four products than widening both.
 *
 *     row      [words][4]              of int16
 *     filters  [fours][words][2 pairs of columns][2 pairs of filters][2 columns]  of int16
 *     sums     [fours][4 filters]
 */
#ifndef EDGEC_DENSE_DENSE_1X4_PAIRS_DSP_H
#define EDGEC_DENSE_DENSE_1X4_PAIRS_DSP_H

#include <stdint.h>

#include "edgec/dense/dense_1x4_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defines NAME(filters, row, sums, fours): dot products of the row with 4 * `fours` filters.
 *
 * WORDS: fours of columns; a turn of the loop takes UNROLLED of them, and the remainder comes
 * first. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
#define EDGEC_DENSE_1X4_PAIRS_WORD                                                                 \
    "ldr r9, [r1, #4]\n"                                                                           \
    "ldr r8, [r1], #8\n"                                                                           \
    "ldr r3, [r0, #4]\n"                                                                           \
    "ldr r12, [r0, #8]\n"                                                                          \
    "ldr lr, [r0, #12]\n"                                                                          \
    "ldr r2, [r0], #16\n"                                                                          \
    "smlald r6, r7, r3, r8\n"                                                                      \
    "sxtb16 r3, r3\n"                                                                              \
    "smlald r4, r5, r2, r8\n"                                                                      \
    "sxtb16 r2, r2\n"                                                                              \
    "smlad r11, r3, r8, r11\n"                                                                     \
    "smlad r10, r2, r8, r10\n"                                                                     \
    "smlald r4, r5, r12, r9\n"                                                                     \
    "sxtb16 r12, r12\n"                                                                            \
    "smlald r6, r7, lr, r9\n"                                                                      \
    "sxtb16 lr, lr\n"                                                                              \
    "smlad r10, r12, r9, r10\n"                                                                    \
    "smlad r11, lr, r9, r11\n"

/* Registers: sums of both filters in r4-r5 and r6-r7, of the second alone in r10 and r11, words of
 * filters in r2, r3, r12 and lr, of the row in r8 and r9.  Stack: the row, the address of the next
 * sums, the number of fours left, and the end of the row at 44. */
#define EDGEC_DENSE_1X4_PAIRS(NAME, WORDS, UNROLLED)                                               \
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *row, edgec_s32_t *sums,    \
                             int32_t fours) {                                                      \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = row;                                        \
        register edgec_s32_t *s __asm__("r2") = sums;                                              \
        register int32_t n __asm__("r3") = fours;                                                  \
        __asm__ volatile(                                                                          \
            "movw r12, #(%c[words] * 8)\n"                                                         \
            "add r12, r12, r1\n"                                                                   \
            "push {r1-r12, lr}\n"                                                                  \
            "1:\n"                                                                                 \
            "mov r4, #0\n"                                                                         \
            "mov r5, #0\n"                                                                         \
            "mov r6, #0\n"                                                                         \
            "mov r7, #0\n"                                                                         \
            "mov r10, #0\n"                                                                        \
            "mov r11, #0\n"                                                                        \
            ".rept %c[words] %% %c[unrolled]\n"                                                    \
            EDGEC_DENSE_1X4_PAIRS_WORD                                                             \
            ".endr\n"                                                                              \
            ".if %c[words] / %c[unrolled] - 1\n"                                                   \
            ".p2align 2\n"                                                                         \
            ".endif\n"                                                                             \
            "2:\n"                                                                                 \
            ".rept %c[unrolled]\n"                                                                 \
            EDGEC_DENSE_1X4_PAIRS_WORD                                                             \
            ".endr\n"                                                                              \
            ".if %c[words] / %c[unrolled] - 1\n"                                                   \
            "ldr r2, [sp, #44]\n"                                                                  \
            "cmp r1, r2\n"                                                                         \
            "bne 2b\n"                                                                             \
            ".endif\n"                                                                             \
            "ldrd r8, r9, [sp, #4]\n"                                                              \
            "ldr r1, [sp]\n"                                                                       \
            "subs r4, r4, r10\n"                                                                   \
            "sbc r5, r5, r10, asr #31\n"                                                           \
            "subs r6, r6, r11\n"                                                                   \
            "sbc r7, r7, r11, asr #31\n"                                                           \
            "lsr r4, r4, #8\n"                                                                     \
            "lsr r6, r6, #8\n"                                                                     \
            "orr r4, r4, r5, lsl #24\n"                                                            \
            "orr r6, r6, r7, lsl #24\n"                                                            \
            "str r4, [r8]\n"                                                                       \
            "str r6, [r8, #8]\n"                                                                   \
            "str r11, [r8, #12]\n"                                                                 \
            "str r10, [r8, #4]\n"                                                                  \
            "add r8, r8, #16\n"                                                                    \
            "subs r9, r9, #1\n"                                                                    \
            "strd r8, r9, [sp, #4]\n"                                                              \
            "bne 1b\n"                                                                             \
            "pop {r1-r12, lr}\n"                                                                   \
            : "+r"(w), "+r"(x), "+r"(s), "+r"(n)                                                   \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED)                                         \
            : "r12", "memory", "cc");                                                              \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_1X4_PAIRS(NAME, WORDS, UNROLLED)                                               \
    EDGEC_INLINE void NAME(const int8_t *filters, const edgec_pair_t *row, edgec_s32_t *sums,      \
                           int32_t fours) {                                                        \
        for (int32_t i = 0; i < fours * EDGEC_DENSE_1X4_FILTERS; i++) {                            \
            const int8_t *const pair = filters + i / 4 * (16 * (WORDS)) + i % 4 / 2 * 4;           \
            sums[i] = edgec_dense_1x4_pairs_dot(pair, row, 2 * (WORDS), i % 2);                    \
        }                                                                                          \
    }

/* One sum of the above over `words` pairs of columns: of the first filter, or the second. */
EDGEC_INLINE int32_t edgec_dense_1x4_pairs_dot(const int8_t *pair, const edgec_pair_t *row,
                                               int32_t words, int32_t second) {
    int32_t sum = 0;
    int64_t both = 0;
    for (int32_t i = 0; i < words; i++) {
        const uint32_t word = edgec_word_at(pair + 8 * i);
        sum = edgec_pair_dot(edgec_sxtb16(word), row[i], sum);
        both += edgec_low_low(word, row[i], 0);
        both += edgec_high_high(word, row[i], 0);
    }
    return second ? sum : (int32_t)((both - sum) / 256);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
