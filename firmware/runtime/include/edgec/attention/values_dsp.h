/* Sums of values weighted by exponentials, four queries at a time: the second product of attention.
 *
 * A weight is an int16, the weights of two neighbouring keys are a word.  The values of two keys at
 * two columns are brought into the same order, so that one SMLAD takes both keys.
 *
 *     weights  [pairs of keys][8 words]      of four queries the words 0, 2, 4, 6
 *     sums     [pairs of columns][4 queries][2 columns]
 */
#ifndef EDGEC_ATTENTION_VALUES_DSP_H
#define EDGEC_ATTENTION_VALUES_DSP_H

#include <stdint.h>

#include "edgec/dense/dense_4x2_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defines NAME(values, weights, sums, columns): the sums of `columns` pairs of columns.
 *
 * PAIRS of keys, the first 4 * LOOPS in a loop of four; STRIDE: bytes between the values of two
 * keys. Far ones do not fit the offset of a load.  ODD: the last pair starts a key earlier (its
 * first weight is 0). */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
#define EDGEC_VALUES_PAIR(KEY, WEIGHT)                                                             \
    "ldrh r2, [r0, #(" KEY ")]\n"                                                                  \
    "ldrh r3, [r0, #(" KEY " + %c[stride])]\n"                                                     \
    "ldr r12, [r1, #(" WEIGHT ")]\n"                                                               \
    "ldr lr, [r1, #(" WEIGHT " + 8)]\n"                                                            \
    ".if %c[far]\n"                                                                                \
    "add r0, r0, #%c[stride]\n"                                                                    \
    "add r0, r0, #%c[stride]\n"                                                                    \
    ".endif\n"                                                                                     \
    "pkhbt r2, r2, r3, lsl #16\n"                                                                  \
    "sxtb16 r3, r2, ror #8\n"                                                                      \
    "sxtb16 r2, r2\n"                                                                              \
    EDGEC_DENSE_4X2_DOT                                                                             \
    "ldr r12, [r1, #(" WEIGHT " + 16)]\n"                                                          \
    "ldr lr, [r1, #(" WEIGHT " + 24)]\n"                                                           \
    EDGEC_DENSE_4X2_DOT_HIGH

/* Sums in r4-r11.  Stack: values, weights, address of the sums, columns left, and in the place of
 * r12 the end of the loop's weights. */
#define EDGEC_VALUES_4X2(NAME, PAIRS, LOOPS, STRIDE, ODD)                                          \
    __attribute__((noinline, unused)) static void NAME(                                            \
        const int8_t *values, const edgec_pair_t *weights, edgec_s32_t *sums, int32_t columns) {   \
        register const int8_t *v __asm__("r0") = values;                                           \
        register const edgec_pair_t *e __asm__("r1") = weights;                                    \
        register edgec_s32_t *s __asm__("r2") = sums;                                              \
        register int32_t n __asm__("r3") = columns;                                                \
        __asm__ volatile(                                                                          \
            "push {r0-r12, lr}\n"                                                                  \
            "movw r12, #(%c[loops] * 128)\n"                                                       \
            "add r12, r12, r1\n"                                                                   \
            "str r12, [sp, #48]\n"                                                                 \
            "1:\n"                                                                                 \
            "movs r4, #0\n"                                                                        \
            "movs r5, #0\n"                                                                        \
            "movs r6, #0\n"                                                                        \
            "movs r7, #0\n"                                                                        \
            "mov r8, r4\n"                                                                         \
            "mov r9, r4\n"                                                                         \
            "mov r10, r4\n"                                                                        \
            "mov r11, r4\n"                                                                        \
            ".if %c[loops]\n"                                                                      \
            "2:\n"                                                                                 \
            ".irp k, 0, 1, 2, 3\n"                                                                 \
            EDGEC_VALUES_PAIR("(2 - 2 * %c[far]) * \\k * %c[stride]", "32 * \\k")                  \
            ".endr\n"                                                                              \
            ".if 1 - %c[far]\n"                                                                    \
            "movw r12, #(8 * %c[stride])\n"                                                        \
            "add r0, r0, r12\n"                                                                    \
            ".endif\n"                                                                             \
            "adds r1, r1, #128\n"                                                                  \
            "ldr r12, [sp, #48]\n"                                                                 \
            "cmp r1, r12\n"                                                                        \
            "bne 2b\n"                                                                             \
            ".endif\n"                                                                             \
            ".rept %c[pairs] - 4 * %c[loops] - %c[odd]\n"                                          \
            EDGEC_VALUES_PAIR("0", "0")                                                            \
            ".if 1 - %c[far]\n"                                                                    \
            "add r0, r0, #(2 * %c[stride])\n"                                                      \
            ".endif\n"                                                                             \
            "adds r1, r1, #32\n"                                                                   \
            ".endr\n"                                                                              \
            ".if %c[odd]\n"                                                                        \
            "sub r0, r0, #%c[stride]\n"                                                            \
            EDGEC_VALUES_PAIR("0", "0")                                                            \
            ".endif\n"                                                                             \
            "ldm sp, {r0, r1, r2, r3}\n"                                                           \
            "stm r2!, {r4-r11}\n"                                                                  \
            "adds r0, #2\n"                                                                        \
            "subs r3, #1\n"                                                                        \
            "stm sp, {r0, r1, r2, r3}\n"                                                           \
            "bne 1b\n"                                                                             \
            "pop {r0-r12, lr}\n"                                                                   \
            : "+r"(v), "+r"(e), "+r"(s), "+r"(n)                                                   \
            : [pairs] "i"(PAIRS), [loops] "i"(LOOPS), [stride] "i"(STRIDE), [odd] "i"(ODD),        \
              [far] "i"(7 * (STRIDE) > 4095)                                                       \
            : "r12", "memory", "cc");                                                              \
    }
/* clang-format on */
#else
#define EDGEC_VALUES_4X2(NAME, PAIRS, LOOPS, STRIDE, ODD)                                          \
    EDGEC_INLINE void NAME(const int8_t *values, const edgec_pair_t *weights, edgec_s32_t *sums,   \
                           int32_t columns) {                                                      \
        for (int32_t j = 0; j < 2 * EDGEC_DENSE_4X2_ROWS * columns; j++) {                         \
            const int8_t *const from = values + (j / 8) * 2 + j % 2;                               \
            sums[j] = edgec_values_sum(from, weights + j % 8 / 2 * 2, PAIRS, STRIDE, ODD);         \
        }                                                                                          \
    }

/* One sum of the above. */
EDGEC_INLINE int32_t edgec_values_sum(const int8_t *values, const edgec_pair_t *weights,
                                      int32_t pairs, int32_t stride, int32_t odd) {
    int32_t sum = 0;
    for (int32_t pair = 0; pair < pairs; pair++, weights += 2 * EDGEC_DENSE_4X2_ROWS) {
        const int32_t key = 2 * pair - ((odd != 0 && pair == pairs - 1) ? 1 : 0);
        const uint32_t first = (uint32_t)values[key * stride] & 0xFFFFU;
        const uint32_t second = (uint32_t)values[(key + 1) * stride] & 0xFFFFU;
        sum = edgec_pair_dot(first | (second << 16), weights[0], sum);
    }
    return sum;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
