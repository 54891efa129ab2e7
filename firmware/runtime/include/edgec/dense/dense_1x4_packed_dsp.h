/* Dot products with the DSP extension: one row of int8 with four filters of 2 to 4 bits at a time.
 *
 * A weight w of n bits is stored as the digit w + 2^(n-1).  Masked and shifted in one instruction,
 * a digit of each half word of a filter is a pair that SMLAD multiplies by two columns of the row.
 * So sums begin with -2^(n-1) times the sum of the row, which serves all filters.
 *
 *     row      [1 word]                initial value of the sums, one number for all filters
 *              [pairs]                 of int16: columns 0 and 2 of a word of x, then 1 and 3
 *     filters  [fours][words][4 filters][2 half words]: 16 / n digits, for as many pairs, lowest
 *              bits first
 *     sums     [fours][4 filters]
 *
 * edgec/kernels/dsp/dense_1x4_packed_dsp writes the filters.
 */
#ifndef EDGEC_DENSE_DENSE_1X4_PACKED_DSP_H
#define EDGEC_DENSE_DENSE_1X4_PACKED_DSP_H

#include <stdint.h>
#include <string.h>

#include "edgec/dense/dense_1x4_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Widens `depth` values to `pairs` pairs, those that are missing zeros. */
EDGEC_INLINE void edgec_dense_1x4_packed_row(const int8_t *from, edgec_pair_t *row, int32_t depth,
                                             int32_t pairs, int32_t bits) {
    const uint32_t ones = edgec_kept(0x00010001U);
    edgec_pair_t *to = row + 1;
    const edgec_pair_t *const end = to + pairs;
    int32_t sum = 0;
    for (int32_t i = depth / 4; i > 0; i--, from += 4, to += 2) {
        const uint32_t word = edgec_word_at(from);
        to[0] = edgec_sxtb16(word);
        to[1] = edgec_sxtb16_high(word);
        sum = edgec_pair_dot(to[0], ones, sum);
        sum = edgec_pair_dot(to[1], ones, sum);
    }
    if (depth % 4 > 0) {
        uint32_t word = 0;
        memcpy(&word, from, (size_t)(depth % 4));
        to[0] = edgec_sxtb16(word);
        to[1] = edgec_sxtb16_high(word);
        sum = edgec_pair_dot(to[0], ones, sum);
        sum = edgec_pair_dot(to[1], ones, sum);
        to += 2;
    }
    while (to < end) {
        *to++ = 0;
    }
    row[0] = (uint32_t)(-sum * ((int32_t)1 << (bits - 1)));
}

/* Defines NAME(filters, row, sums, fours): dot products of the row with 4 * `fours` filters.
 *
 * WORDS: words of a filter; a turn of the loop takes UNROLLED of them, and the remainder comes
 * first.  BITS: of a digit. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A pair of digits of FILTER into TO. */
#define EDGEC_DENSE_1X4_DIGIT(TO, FILTER)                                                          \
    ".if edgec_digit\n"                                                                            \
    "and " TO ", r10, " FILTER ", lsr #(%c[bits] * edgec_digit)\n"                                 \
    ".else\n"                                                                                      \
    "and " TO ", r10, " FILTER "\n"                                                                \
    ".endif\n"

/* A word of four filters.  Loads stand together: the later ones take one cycle on Cortex-M4.  No
 * product follows its digits at once: it would wait for them on Cortex-M33. */
#define EDGEC_DENSE_1X4_PACKED_WORD                                                                \
    "ldr r3, [r0, #4]\n"                                                                           \
    "ldr r12, [r0, #8]\n"                                                                          \
    "ldr lr, [r0, #12]\n"                                                                          \
    "ldr r2, [r0], #16\n"                                                                          \
    ".set edgec_digit, 0\n"                                                                        \
    ".rept 16 / %c[bits]\n"                                                                        \
    "ldr r8, [r1], #4\n"                                                                           \
    EDGEC_DENSE_1X4_DIGIT("r9", "r2")                                                              \
    EDGEC_DENSE_1X4_DIGIT("r11", "r3")                                                             \
    "smlad r4, r9, r8, r4\n"                                                                       \
    EDGEC_DENSE_1X4_DIGIT("r9", "r12")                                                             \
    "smlad r5, r11, r8, r5\n"                                                                      \
    EDGEC_DENSE_1X4_DIGIT("r11", "lr")                                                             \
    "smlad r6, r9, r8, r6\n"                                                                       \
    "smlad r7, r11, r8, r7\n"                                                                      \
    ".set edgec_digit, edgec_digit + 1\n"                                                          \
    ".endr\n"

/* Registers: sums in r4-r7, a word of each filter in r2, r3, r12 and lr, a pair of the row in r8, of
 * digits in r9 and r11, their mask in r10.  Stack: the row, the address of the next sums, the
 * number of fours left, the initial value of the sums, the end of the row. */
#define EDGEC_DENSE_1X4_PACKED(NAME, WORDS, UNROLLED, BITS)                                        \
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *row, edgec_s32_t *sums,    \
                             int32_t fours) {                                                      \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = row;                                        \
        register edgec_s32_t *s __asm__("r2") = sums;                                              \
        register int32_t n __asm__("r3") = fours;                                                  \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "ldr r4, [r1], #4\n"                                                                   \
            "movw r5, #(%c[words] * (16 / %c[bits]) * 4)\n"                                        \
            "add r5, r5, r1\n"                                                                     \
            "push {r1-r5}\n"                                                                       \
            "mov r10, #((1 << %c[bits]) - 1)\n"                                                    \
            "orr r10, r10, r10, lsl #16\n"                                                         \
            "1:\n"                                                                                 \
            "ldr r4, [sp, #12]\n"                                                                  \
            "mov r5, r4\n"                                                                         \
            "mov r6, r4\n"                                                                         \
            "mov r7, r4\n"                                                                         \
            ".rept %c[words] %% %c[unrolled]\n"                                                    \
            EDGEC_DENSE_1X4_PACKED_WORD                                                            \
            ".endr\n"                                                                              \
            ".p2align 2\n"                                                                         \
            "2:\n"                                                                                 \
            ".rept %c[unrolled]\n"                                                                 \
            EDGEC_DENSE_1X4_PACKED_WORD                                                            \
            ".endr\n"                                                                              \
            ".if %c[words] / %c[unrolled] - 1\n"                                                   \
            "ldr r2, [sp, #16]\n"                                                                  \
            "cmp r1, r2\n"                                                                         \
            "bne 2b\n"                                                                             \
            ".endif\n"                                                                             \
            "ldrd r8, r9, [sp, #4]\n"                                                              \
            "ldr r1, [sp]\n"                                                                       \
            "stm r8!, {r4-r7}\n"                                                                   \
            "subs r9, r9, #1\n"                                                                    \
            "strd r8, r9, [sp, #4]\n"                                                              \
            "bne 1b\n"                                                                             \
            "add sp, sp, #20\n"                                                                    \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(w), "+r"(x), "+r"(s), "+r"(n)                                                   \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [bits] "i"(BITS)                       \
            : "r12", "memory", "cc");                                                              \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_1X4_PACKED(NAME, WORDS, UNROLLED, BITS)                                        \
    EDGEC_INLINE void NAME(const int8_t *filters, const edgec_pair_t *row, edgec_s32_t *sums,      \
                           int32_t fours) {                                                        \
        for (int32_t i = 0; i < fours * EDGEC_DENSE_1X4_FILTERS; i++) {                            \
            const int8_t *const filter = filters + i / 4 * (16 * (WORDS)) + i % 4 * 4;             \
            sums[i] = edgec_dense_1x4_packed_dot(filter, row, WORDS, BITS);                        \
        }                                                                                          \
    }

/* One sum of the above. */
EDGEC_INLINE int32_t edgec_dense_1x4_packed_dot(const int8_t *filter, const edgec_pair_t *row,
                                                int32_t words, int32_t bits) {
    const edgec_pair_t *pair = row + 1;
    const uint32_t mask = 0x00010001U * (((uint32_t)1 << bits) - 1U);
    int32_t sum = (int32_t)row[0];
    for (int32_t i = 0; i < words; i++) {
        const uint32_t word = edgec_word_at(filter + 16 * i);
        for (int32_t digit = 0; digit < 16 / bits; digit++) {
            sum = edgec_pair_dot((word >> (bits * digit)) & mask, *pair++, sum);
        }
    }
    return sum;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
