/* Dot products of int16 without the DSP extension: one row with four filters of int8.
 *
 * The weights of four filters that meet one value are a word (w0 + 128, w1 + 128, w2 + 128, w3).
 * Products with the word, and with the word shifted right by 8, 16 and 24 bits with its sign, are
 * added up, modulo 2^32: no byte is taken out.  With t0 to t3 these sums,
 *
 *     sum x w3  =  t3,    sum x (w2 + 128)  =  t2 - 256 t3,    sum x (w1 + 128)  =  t1 - 256 t2,
 *     sum x (w0 + 128)  =  t0 - 256 t1.
 *
 *     row      [depth]                   of int16, a multiple of 8, at a multiple of 4 bytes
 *     weights  [fours][depth][4 filters] bytes        edgec/kernels/m0/dense_1x4_s16_m0
 *     sums     [fours][4 filters]
 */
#ifndef EDGEC_DENSE_DENSE_1X4_S16_M0_H
#define EDGEC_DENSE_DENSE_1X4_S16_M0_H

#include <stdint.h>

#include "edgec/dense/dense_1x4_s8_m0.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sum of a row, modulo 2^32, times 128. */
EDGEC_INLINE uint32_t edgec_dense_1x4_s16_m0_more(const edgec_s16_t *row, int32_t depth) {
    int32_t sum = 0;
    for (int32_t i = 0; i < depth; i++) {
        sum += row[i];
    }
    return 128U * (uint32_t)sum;
}

/* Operands of edgec_dense_1x4_s16_m0_sums. */
typedef struct edgec_dense_1x4_s16_m0_call {
    const int8_t *weights;  /* of the first four filters */
    const edgec_s16_t *x;   /* the row, up to */
    const edgec_s16_t *end; /* here */
    edgec_lanes_t *to;      /* four words of sums for four filters, up to */
    edgec_lanes_t *to_end;  /* here */
    uint32_t more;          /* of the row: what the 128 added to weights make of the sums */
} edgec_dense_1x4_s16_m0_call_t;

#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)
/* Four values by four weights each: sums in r4-r7, words of weights in r8-r11, pairs of values in
 * r2 and r3.  Loads stand together: the later ones take one cycle on Cortex-M3. */
/* clang-format off */
#define EDGEC_DENSE_1X4_S16_M0_COLUMN(WEIGHTS, X)                                                  \
    "mla r4, " WEIGHTS ", " X ", r4\n"                                                             \
    "asr r12, " WEIGHTS ", #8\n"                                                                   \
    "mla r5, r12, " X ", r5\n"                                                                     \
    "asr r12, " WEIGHTS ", #16\n"                                                                  \
    "mla r6, r12, " X ", r6\n"                                                                     \
    "asr r12, " WEIGHTS ", #24\n"                                                                  \
    "mla r7, r12, " X ", r7\n"
#define EDGEC_DENSE_1X4_S16_M0_STEP                                                                \
    "ldr r3, [r1, #4]\n"                                                                           \
    "ldr r2, [r1], #8\n"                                                                           \
    "ldr r9, [r0, #4]\n"                                                                           \
    "ldr r10, [r0, #8]\n"                                                                          \
    "ldr r11, [r0, #12]\n"                                                                         \
    "ldr r8, [r0], #16\n"                                                                          \
    "sxth lr, r2\n"                                                                                \
    "asr r2, r2, #16\n"                                                                            \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r9", "r2")                                                      \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r8", "lr")                                                      \
    "sxth lr, r3\n"                                                                                \
    "asr r3, r3, #16\n"                                                                            \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r10", "lr")                                                     \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r11", "r3")

/* Stack: the row, its end, the address of the sums, their end, what is taken from them. */
EDGEC_SEPARATE void edgec_dense_1x4_s16_m0_sums(const edgec_dense_1x4_s16_m0_call_t *call) {
    register const edgec_dense_1x4_s16_m0_call_t *from __asm__("r0") = call;
    __asm__ volatile(
        "push {r4-r11}\n"
        "ldm r0, {r0-r5}\n"
        "push {r1-r5}\n"
        "1:\n"
        "ldr r1, [sp]\n"
        "mov r4, #0\n"
        "mov r5, #0\n"
        "mov r6, #0\n"
        "mov r7, #0\n"
        "2:\n"
        EDGEC_DENSE_1X4_S16_M0_STEP
        EDGEC_DENSE_1X4_S16_M0_STEP
        "ldr r12, [sp, #4]\n"
        "cmp r1, r12\n"
        "bne 2b\n"
        "ldrd r2, r3, [sp, #8]\n"
        "ldr r12, [sp, #16]\n"
        "sub r4, r4, r5, lsl #8\n"
        "sub r5, r5, r6, lsl #8\n"
        "sub r6, r6, r7, lsl #8\n"
        "sub r4, r4, r12\n"
        "sub r5, r5, r12\n"
        "sub r6, r6, r12\n"
        "stm r2!, {r4-r7}\n"
        "str r2, [sp, #8]\n"
        "cmp r2, r3\n"
        "bne 1b\n"
        "add sp, sp, #20\n"
        "pop {r4-r11}\n"
        : "+r"(from)
        :
        : "r1", "r2", "r3", "r12", "lr", "memory", "cc");
}
#undef EDGEC_DENSE_1X4_S16_M0_COLUMN
#undef EDGEC_DENSE_1X4_S16_M0_STEP
/* clang-format on */
#elif defined(__GNUC__) && defined(__ARM_ARCH_6M__)
/* Four values by four weights each: sums in r8-r11, words of weights in r4 and r5, pairs of values
 * in r2 and r3. */
/* clang-format off */
#define EDGEC_DENSE_1X4_S16_M0_COLUMN(WEIGHTS, X)                                                  \
    "asrs r7, " WEIGHTS ", #8\n"                                                                   \
    "muls r7, " X ", r7\n"                                                                         \
    "add r9, r9, r7\n"                                                                             \
    "asrs r7, " WEIGHTS ", #16\n"                                                                  \
    "muls r7, " X ", r7\n"                                                                         \
    "add r10, r10, r7\n"                                                                           \
    "asrs r7, " WEIGHTS ", #24\n"                                                                  \
    "muls r7, " X ", r7\n"                                                                         \
    "add r11, r11, r7\n"                                                                           \
    "muls " WEIGHTS ", " X ", " WEIGHTS "\n"                                                       \
    "add r8, r8, " WEIGHTS "\n"
#define EDGEC_DENSE_1X4_S16_M0_STEP                                                                \
    "ldm r1!, {r2, r3}\n"                                                                          \
    "ldm r0!, {r4, r5}\n"                                                                          \
    "sxth r6, r2\n"                                                                                \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r4", "r6")                                                      \
    "asrs r6, r2, #16\n"                                                                           \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r5", "r6")                                                      \
    "ldm r0!, {r4, r5}\n"                                                                          \
    "sxth r6, r3\n"                                                                                \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r4", "r6")                                                      \
    "asrs r6, r3, #16\n"                                                                           \
    EDGEC_DENSE_1X4_S16_M0_COLUMN("r5", "r6")

/* End of the row in r12.  Stack: the row, address of the sums, their end, what is taken from them. */
EDGEC_SEPARATE void edgec_dense_1x4_s16_m0_sums(const edgec_dense_1x4_s16_m0_call_t *call) {
    register const edgec_dense_1x4_s16_m0_call_t *from __asm__("r0") = call;
    __asm__ volatile(
        ".syntax unified\n"
        "push {r4-r7}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "ldm r0, {r0-r5}\n"
        "push {r1, r3, r4, r5}\n"
        "mov r12, r2\n"
        "1:\n"
        "ldr r1, [sp]\n"
        "movs r2, #0\n"
        "mov r8, r2\n"
        "mov r9, r2\n"
        "mov r10, r2\n"
        "mov r11, r2\n"
        "2:\n"
        EDGEC_DENSE_1X4_S16_M0_STEP
        EDGEC_DENSE_1X4_S16_M0_STEP
        "cmp r1, r12\n"
        "bne 2b\n"
        "mov r2, r8\n"
        "mov r3, r9\n"
        "mov r4, r10\n"
        "mov r5, r11\n"
        "ldr r7, [sp, #12]\n"
        "lsls r6, r3, #8\n"
        "subs r2, r2, r6\n"
        "subs r2, r2, r7\n"
        "lsls r6, r4, #8\n"
        "subs r3, r3, r6\n"
        "subs r3, r3, r7\n"
        "lsls r6, r5, #8\n"
        "subs r4, r4, r6\n"
        "subs r4, r4, r7\n"
        "ldr r6, [sp, #4]\n"
        "stm r6!, {r2-r5}\n"
        "str r6, [sp, #4]\n"
        "ldr r2, [sp, #8]\n"
        "cmp r6, r2\n"
        "beq 3f\n"
        "b 1b\n" /* too far for a conditional branch */
        "3:\n"
        "add sp, sp, #16\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "pop {r4-r7}\n"
        : "+r"(from)
        :
        : "r1", "r2", "r3", "r12", "memory", "cc");
}
#undef EDGEC_DENSE_1X4_S16_M0_COLUMN
#undef EDGEC_DENSE_1X4_S16_M0_STEP
/* clang-format on */
#else
/* The sums of all filters, modulo 2^32. */
EDGEC_INLINE void edgec_dense_1x4_s16_m0_sums(const edgec_dense_1x4_s16_m0_call_t *call) {
    const int8_t *weights = call->weights;
    for (edgec_lanes_t *to = call->to; to < call->to_end; to += EDGEC_DENSE_1X4_M0_FILTERS) {
        uint32_t sums[EDGEC_DENSE_1X4_M0_FILTERS] = {0};
        for (const edgec_s16_t *x = call->x; x < call->end; x++, weights += 4) {
            const int32_t value = *x;
            const int32_t last = weights[3];
            uint32_t part = (uint32_t)last;
            for (int32_t i = EDGEC_DENSE_1X4_M0_FILTERS - 1; i >= 0; i--) {
                sums[i] += part * (uint32_t)value;
                part = (part << 8) + ((i > 0) ? (uint32_t)(uint8_t)weights[i - 1] : 0U);
            }
        }
        for (int32_t i = 0; i < EDGEC_DENSE_1X4_M0_FILTERS - 1; i++) {
            to[i] = sums[i] - (sums[i + 1] << 8) - call->more;
        }
        to[EDGEC_DENSE_1X4_M0_FILTERS - 1] = sums[EDGEC_DENSE_1X4_M0_FILTERS - 1];
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
