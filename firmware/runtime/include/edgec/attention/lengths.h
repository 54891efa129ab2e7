/* Attention in a model whose runs differ in length: what values_dsp.h has compiled in, known at run
 * time. */
#ifndef EDGEC_ATTENTION_LENGTHS_H
#define EDGEC_ATTENTION_LENGTHS_H

#include <stdint.h>
#include <string.h>

#include "edgec/attention/attention.h"
#include "edgec/attention/values_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Attention to a single key, which has all of the weight: a row of `columns` outputs of one head,
 * the same for `queries` rows that are `stride` bytes apart. */
EDGEC_SEPARATE void edgec_attention_of_one(const int8_t *values, int32_t columns,
                                           const edgec_attention_head_t *head, int32_t exp_bits,
                                           int8_t *y, int32_t stride, int32_t queries) {
    const int32_t weight = edgec_exponential(0, edgec_attention_line(0, head, exp_bits));
    const edgec_attention_scale_t scale = edgec_attention_scale((uint32_t)weight, head);
    for (int32_t e = 0; e < columns; e++) {
        y[e] = edgec_attention_code(weight * values[e], scale);
    }
    for (int32_t i = 1; i < queries; i++) {
        (void)memcpy(y + i * stride, y, (size_t)columns);
    }
}

/* Defines NAME(values, weights, sums, columns, pairs, odd): as EDGEC_VALUES_4X2, for any number of
 * pairs of keys.  STRIDE: bytes between the values of two keys.  `odd`: 1 where the last pair
 * starts a key earlier (its first weight is 0). */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* Ends of the loops of a column. */
typedef struct edgec_values_ends {
    int32_t columns;           /* pairs of columns that are left */
    const edgec_pair_t *fours; /* weights after the last four pairs */
    const edgec_pair_t *pairs; /* weights after the last pair, but for an odd one */
    int32_t odd;
} edgec_values_ends_t;

/* clang-format off */
/* Sums in r4-r11; on the stack the values, the weights, where sums go, and the ends. */
#define EDGEC_VALUES_OF_RUN(NAME, STRIDE)                                                          \
    __attribute__((noinline, unused)) static void NAME(                                            \
        const int8_t *values, const edgec_pair_t *weights, edgec_s32_t *sums, int32_t columns,     \
        int32_t pairs, int32_t odd) {                                                              \
        edgec_values_ends_t ends = {columns, weights + (pairs - odd) / 4 * 32,                     \
                                    weights + (pairs - odd) * 8, odd};                             \
        register const int8_t *v __asm__("r0") = values;                                           \
        register const edgec_pair_t *e __asm__("r1") = weights;                                    \
        register edgec_s32_t *s __asm__("r2") = sums;                                              \
        register edgec_values_ends_t *n __asm__("r3") = &ends;                                     \
        __asm__ volatile(                                                                          \
            "push {r0-r12, lr}\n"                                                                  \
            "1:\n"                                                                                 \
            "ldr r12, [r3, #4]\n"                                                                  \
            "movs r4, #0\n"                                                                        \
            "movs r5, #0\n"                                                                        \
            "movs r6, #0\n"                                                                        \
            "movs r7, #0\n"                                                                        \
            "mov r8, r4\n"                                                                         \
            "mov r9, r4\n"                                                                         \
            "mov r10, r4\n"                                                                        \
            "mov r11, r4\n"                                                                        \
            "cmp r1, r12\n"                                                                        \
            "beq 3f\n"                                                                             \
            "2:\n"                                                                                 \
            ".irp k, 0, 1, 2, 3\n"                                                                 \
            EDGEC_VALUES_PAIR("(2 - 2 * %c[far]) * \\k * %c[stride]", "32 * \\k")                    \
            ".endr\n"                                                                              \
            ".if 1 - %c[far]\n"                                                                    \
            "movw r12, #(8 * %c[stride])\n"                                                        \
            "add r0, r0, r12\n"                                                                    \
            ".endif\n"                                                                             \
            "ldr r12, [sp, #12]\n"                                                                 \
            "adds r1, r1, #128\n"                                                                  \
            "ldr r12, [r12, #4]\n"                                                                 \
            "cmp r1, r12\n"                                                                        \
            "bne 2b\n"                                                                             \
            "3:\n"                                                                                 \
            "ldr r12, [sp, #12]\n"                                                                 \
            "ldr r12, [r12, #8]\n"                                                                 \
            "cmp r1, r12\n"                                                                        \
            "beq 4f\n"                                                                             \
            EDGEC_VALUES_PAIR("0", "0")                                                            \
            ".if 1 - %c[far]\n"                                                                    \
            "add r0, r0, #(2 * %c[stride])\n"                                                      \
            ".endif\n"                                                                             \
            "adds r1, r1, #32\n"                                                                   \
            "b 3b\n"                                                                               \
            "4:\n"                                                                                 \
            "ldr r12, [sp, #12]\n"                                                                 \
            "ldr r12, [r12, #12]\n"                                                                \
            "cmp r12, #0\n"                                                                        \
            "beq 5f\n"                                                                             \
            "sub r0, r0, #%c[stride]\n"                                                            \
            EDGEC_VALUES_PAIR("0", "0")                                                            \
            "5:\n"                                                                                 \
            "ldm sp, {r0, r1, r2, r3}\n"                                                           \
            "stm r2!, {r4-r11}\n"                                                                  \
            "adds r0, #2\n"                                                                        \
            "ldr r12, [r3]\n"                                                                      \
            "str r0, [sp]\n"                                                                       \
            "str r2, [sp, #8]\n"                                                                   \
            "subs r12, r12, #1\n"                                                                  \
            "str r12, [r3]\n"                                                                      \
            "bne 1b\n"                                                                             \
            "pop {r0-r12, lr}\n"                                                                   \
            : "+r"(v), "+r"(e), "+r"(s), "+r"(n)                                                   \
            : [stride] "i"(STRIDE), [far] "i"(7 * (STRIDE) > 4095)                                 \
            : "r12", "memory", "cc");                                                              \
    }
/* clang-format on */
#else
#define EDGEC_VALUES_OF_RUN(NAME, STRIDE)                                                          \
    EDGEC_INLINE void NAME(const int8_t *values, const edgec_pair_t *weights, edgec_s32_t *sums,   \
                           int32_t columns, int32_t pairs, int32_t odd) {                          \
        for (int32_t j = 0; j < 2 * EDGEC_DENSE_4X2_ROWS * columns; j++) {                         \
            const int8_t *const from = values + (j / 8) * 2 + j % 2;                               \
            sums[j] = edgec_values_sum(from, weights + j % 8 / 2 * 2, pairs, STRIDE, odd);         \
        }                                                                                          \
    }
#endif

#ifdef __cplusplus
}
#endif

#endif
