/* Dot products of int8 without the DSP extension: one row of activations with four filters.
 *
 * Activations and weights are stored with 128 added, as 0 to 255, so that a product takes 16 bits.
 * The weights of four filters that meet one activation are a word (w0, w1, w2, w3); the words
 * w0 + 2^16 w2 and w1 + 2^16 w3 times the activation are two products beside each other in 32 bits.
 * Two sums are kept of each, modulo 2^32: of the words themselves, and of their upper halves, which
 * is the sum of filter 2 or 3; the difference is that of filter 0 or 1.  Sums stay below 2^32 up to
 * a depth of 65536.  With n activations,
 *
 *     sum x w  =  sum (x + 128)(w + 128)  -  128 sum (x + 128)  -  128 sum (w + 128)  +  2^14 n
 *
 *     activations  [depth] words                              edgec_dense_1x4_m0_row
 *     weights      [fours][depth][4 filters] bytes            edgec/kernels/m0/dense_1x4_s8_m0
 *     sums         [fours][w0 + 2^16 w2, w2, w1 + 2^16 w3, w3]
 */
#ifndef EDGEC_DENSE_DENSE_1X4_S8_M0_H
#define EDGEC_DENSE_DENSE_1X4_S8_M0_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Filters whose sums are computed together. */
#define EDGEC_DENSE_1X4_M0_FILTERS 4

/* A word of activations or of sums; it may lie in an arena of bytes. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) edgec_lanes_t;
#else
typedef uint32_t edgec_lanes_t;
#endif

/* Stores the words of `depth` activations, with zeros after them up to `padded`.  Returns their
 * part of the correction of all sums. */
EDGEC_INLINE uint32_t edgec_dense_1x4_m0_row(const int8_t *x, edgec_lanes_t *to, int32_t depth,
                                             int32_t padded) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < depth; i++) {
        const uint32_t value = (uint8_t)x[i] ^ 128U;
        to[i] = value;
        sum += value;
    }
    for (int32_t i = depth; i < padded; i++) {
        to[i] = 0;
    }
    return 128U * sum;
}

/* The four sums of the words at `lanes`, modulo 2^32, each with `start` added. */
EDGEC_INLINE void edgec_dense_1x4_m0_take(const edgec_lanes_t *lanes, uint32_t start,
                                          int32_t *sums) {
    sums[0] = (int32_t)(lanes[0] - (lanes[1] << 16) + start);
    sums[1] = (int32_t)(lanes[2] - (lanes[3] << 16) + start);
    sums[2] = (int32_t)(lanes[1] + start);
    sums[3] = (int32_t)(lanes[3] + start);
}

/* Operands of edgec_dense_1x4_m0_sums. */
typedef struct edgec_dense_1x4_m0_call {
    const int8_t *weights;    /* of the first four filters */
    const edgec_lanes_t *x;   /* activations, a multiple of 4, up to */
    const edgec_lanes_t *end; /* here */
    edgec_lanes_t *to;        /* four words of sums for four filters, up to */
    edgec_lanes_t *to_end;    /* here */
} edgec_dense_1x4_m0_call_t;

#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)
/* Two activations by four weights each: sums in r4-r7, words of weights in r8 and r9, activations
 * in r10 and r11, 0x00FF00FF in r2. */
/* clang-format off */
#define EDGEC_DENSE_1X4_M0_COLUMN(WEIGHTS, X)                                                         \
    "and r3, " WEIGHTS ", r2\n"                                                                    \
    "and " WEIGHTS ", r2, " WEIGHTS ", lsr #8\n"                                                   \
    "mul r3, r3, " X "\n"                                                                          \
    "mul " WEIGHTS ", " WEIGHTS ", " X "\n"                                                        \
    "add r4, r4, r3\n"                                                                             \
    "add r5, r5, r3, lsr #16\n"                                                                    \
    "add r6, r6, " WEIGHTS "\n"                                                                    \
    "add r7, r7, " WEIGHTS ", lsr #16\n"
#define EDGEC_DENSE_1X4_M0_STEP(I)                                                                    \
    "ldr r8, [r0, #8 * " #I "]\n"                                                                  \
    "ldr r9, [r0, #8 * " #I " + 4]\n"                                                              \
    "ldr r10, [r1, #8 * " #I "]\n"                                                                 \
    "ldr r11, [r1, #8 * " #I " + 4]\n"                                                             \
    EDGEC_DENSE_1X4_M0_COLUMN("r8", "r10")                                                            \
    EDGEC_DENSE_1X4_M0_COLUMN("r9", "r11")

/* End of the activations in r12, address of the sums in lr.  Stack: activations, end of the
 * sums. */
EDGEC_SEPARATE void edgec_dense_1x4_m0_sums(const edgec_dense_1x4_m0_call_t *call) {
    register const edgec_dense_1x4_m0_call_t *from __asm__("r0") = call;
    __asm__ volatile(
        "push {r4-r11}\n"
        "ldm r0, {r0-r4}\n"
        "push {r1, r4}\n"
        "mov r12, r2\n"
        "mov lr, r3\n"
        "mov r2, #0x00FF00FF\n"
        "1:\n"
        "ldr r1, [sp]\n"
        "mov r4, #0\n"
        "mov r5, #0\n"
        "mov r6, #0\n"
        "mov r7, #0\n"
        "2:\n"
        EDGEC_DENSE_1X4_M0_STEP(0)
        EDGEC_DENSE_1X4_M0_STEP(1)
        "add r0, r0, #16\n"
        "add r1, r1, #16\n"
        "cmp r1, r12\n"
        "bne 2b\n"
        "stm lr!, {r4-r7}\n"
        "ldr r3, [sp, #4]\n"
        "cmp lr, r3\n"
        "bne 1b\n"
        "add sp, sp, #8\n"
        "pop {r4-r11}\n"
        : "+r"(from)
        :
        : "r1", "r2", "r3", "r12", "lr", "memory", "cc");
}
#undef EDGEC_DENSE_1X4_M0_COLUMN
#undef EDGEC_DENSE_1X4_M0_STEP
/* clang-format on */
#elif defined(__GNUC__) && defined(__ARM_ARCH_6M__)
/* Two activations by four weights each: sums in r8-r11, words of weights in r4 and r6, activations
 * in r2 and r3, 0x00FF00FF in r7. */
/* clang-format off */
#define EDGEC_DENSE_1X4_M0_COLUMN(WEIGHTS, X)                                                         \
    "movs r5, " WEIGHTS "\n"                                                                       \
    "ands r5, r5, r7\n"                                                                            \
    "muls r5, " X ", r5\n"                                                                         \
    "add r8, r8, r5\n"                                                                             \
    "lsrs r5, r5, #16\n"                                                                           \
    "add r9, r9, r5\n"                                                                             \
    "lsrs " WEIGHTS ", " WEIGHTS ", #8\n"                                                          \
    "ands " WEIGHTS ", " WEIGHTS ", r7\n"                                                          \
    "muls " WEIGHTS ", " X ", " WEIGHTS "\n"                                                       \
    "add r10, r10, " WEIGHTS "\n"                                                                  \
    "lsrs " WEIGHTS ", " WEIGHTS ", #16\n"                                                         \
    "add r11, r11, " WEIGHTS "\n"
#define EDGEC_DENSE_1X4_M0_STEP                                                                       \
    "ldm r0!, {r4, r6}\n"                                                                          \
    "ldm r1!, {r2, r3}\n"                                                                          \
    EDGEC_DENSE_1X4_M0_COLUMN("r4", "r2")                                                             \
    EDGEC_DENSE_1X4_M0_COLUMN("r6", "r3")

/* End of the activations in r12.  Stack: activations, address of the sums, their end. */
EDGEC_SEPARATE void edgec_dense_1x4_m0_sums(const edgec_dense_1x4_m0_call_t *call) {
    register const edgec_dense_1x4_m0_call_t *from __asm__("r0") = call;
    __asm__ volatile(
        ".syntax unified\n"
        "push {r4-r7}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "ldm r0, {r0-r4}\n"
        "push {r1, r3, r4}\n"
        "mov r12, r2\n"
        "movs r7, #255\n"
        "lsls r6, r7, #16\n"
        "orrs r7, r7, r6\n"
        "1:\n"
        "ldr r1, [sp]\n"
        "movs r2, #0\n"
        "mov r8, r2\n"
        "mov r9, r2\n"
        "mov r10, r2\n"
        "mov r11, r2\n"
        "2:\n"
        EDGEC_DENSE_1X4_M0_STEP
        EDGEC_DENSE_1X4_M0_STEP
        "cmp r1, r12\n"
        "bne 2b\n"
        "mov r2, r8\n"
        "mov r3, r9\n"
        "mov r4, r10\n"
        "mov r5, r11\n"
        "ldr r6, [sp, #4]\n"
        "stm r6!, {r2-r5}\n"
        "str r6, [sp, #4]\n"
        "ldr r2, [sp, #8]\n"
        "cmp r6, r2\n"
        "bne 1b\n"
        "add sp, sp, #12\n"
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
#undef EDGEC_DENSE_1X4_M0_COLUMN
#undef EDGEC_DENSE_1X4_M0_STEP
/* clang-format on */
#else
/* The words of sums of all filters. */
EDGEC_INLINE void edgec_dense_1x4_m0_sums(const edgec_dense_1x4_m0_call_t *call) {
    const int8_t *weights = call->weights;
    for (edgec_lanes_t *to = call->to; to < call->to_end; to += EDGEC_DENSE_1X4_M0_FILTERS) {
        uint32_t sums[EDGEC_DENSE_1X4_M0_FILTERS] = {0};
        for (const edgec_lanes_t *x = call->x; x < call->end; x++, weights += 4) {
            for (int32_t pair = 0; pair < 2; pair++) {
                const uint32_t low = (uint8_t)weights[pair];
                const uint32_t both = low + ((uint32_t)(uint8_t)weights[pair + 2] << 16);
                sums[2 * pair] += both * *x;
                sums[2 * pair + 1] += (both * *x) >> 16;
            }
        }
        for (int32_t i = 0; i < EDGEC_DENSE_1X4_M0_FILTERS; i++) {
            to[i] = sums[i];
        }
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
