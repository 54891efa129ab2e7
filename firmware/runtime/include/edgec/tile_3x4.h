/* Dot products of int8 without the DSP extension: three rows of activations in two words.
 *
 * Of three activations x0, x1, x2 that meet the same weights, the words
 *
 *     u = x0 + 2^21 x1        v = x2 + 2^10 x1        modulo 2^32
 *
 * are made once.  Sums of products of u and of v, modulo 2^32, hold three sums s0, s1, s2 as long
 * as s0 and s2 fit 21 bits and s1 22 bits: s0 is in the low 21 bits of the first word, the low 11
 * bits of s1 are in the rest of it, and with these taken off, s2 and the rest of s1 are in the
 * second word.  So two products do the work of three, and three sums take two registers.  A sum is
 * cut into segments of weights for which sum |w| <= 8191 (edgec/kernels/small/tile_3x4): then
 * 128 sum |w| < 2^20.
 *
 *     activations  [depth][2 words]       edgec_tile_3x4_pack
 *     weights      [depth][rows] bytes    edgec/kernels/common/dense_weights.py
 *
 * A kernel takes two rows of weights on Armv6-M, with its few registers, and four on Armv7-M.
 */
#ifndef EDGEC_TILE_3X4_H
#define EDGEC_TILE_3X4_H

#include <stdint.h>

#include "edgec/math.h"
#include "edgec/requant16.h"
#include "edgec/short_products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of activations whose sums are computed together. */
#define EDGEC_TILE_3X4_ROWS 3

/* A word of activations or of sums; it may lie in an arena of bytes. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) edgec_tile_3x4_t;
#else
typedef uint32_t edgec_tile_3x4_t;
#endif

/* edgec_tile_3x4_pack: the words of `depth` activations of three rows. */
#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)
/* clang-format off */
#define EDGEC_TILE_3X4_PACK(LOAD0, LOAD1, LOAD2)                                                   \
    "ldrsb r5, " LOAD0 "\n"                                                                        \
    "ldrsb r6, " LOAD1 "\n"                                                                        \
    "ldrsb r8, " LOAD2 "\n"                                                                        \
    "add r5, r5, r6, lsl #21\n"                                                                    \
    "add r8, r8, r6, lsl #10\n"                                                                    \
    "strd r5, r8, [r3], #8\n"
#define EDGEC_TILE_3X4_PACK_AT(I)                                                                  \
    EDGEC_TILE_3X4_PACK("[r0, #" #I "]", "[r1, #" #I "]", "[r2, #" #I "]")

EDGEC_SEPARATE void edgec_tile_3x4_pack(const int8_t *x0, const int8_t *x1, const int8_t *x2,
                                        edgec_tile_3x4_t *to, int32_t depth) {
    register const int8_t *first __asm__("r0") = x0;
    register const int8_t *second __asm__("r1") = x1;
    register const int8_t *third __asm__("r2") = x2;
    register edgec_tile_3x4_t *words __asm__("r3") = to;
    register int32_t count __asm__("r4") = depth;
    __asm__ volatile(
        "subs r4, r4, #4\n"
        "blt 2f\n"
        "1:\n"
        EDGEC_TILE_3X4_PACK_AT(0)
        EDGEC_TILE_3X4_PACK_AT(1)
        EDGEC_TILE_3X4_PACK_AT(2)
        EDGEC_TILE_3X4_PACK_AT(3)
        "add r0, r0, #4\n"
        "add r1, r1, #4\n"
        "add r2, r2, #4\n"
        "subs r4, r4, #4\n"
        "bge 1b\n"
        "2:\n"
        "adds r4, r4, #4\n"
        "beq 4f\n"
        "3:\n"
        EDGEC_TILE_3X4_PACK("[r0], #1", "[r1], #1", "[r2], #1")
        "subs r4, r4, #1\n"
        "bne 3b\n"
        "4:\n"
        : "+r"(first), "+r"(second), "+r"(third), "+r"(words), "+r"(count)
        :
        : "r5", "r6", "r8", "memory", "cc");
}
#undef EDGEC_TILE_3X4_PACK
#undef EDGEC_TILE_3X4_PACK_AT
/* clang-format on */
#elif defined(__GNUC__) && defined(__ARM_ARCH_6M__)
/* The rows in r0-r2, indexed by r3; words to r7.  Two activations in a turn. */
/* clang-format off */
#define EDGEC_TILE_3X4_PACK                                                                        \
    "ldrsb r5, [r1, r3]\n"                                                                         \
    "lsls r5, r5, #10\n"                                                                           \
    "ldrsb r6, [r2, r3]\n"                                                                         \
    "adds r6, r6, r5\n"                                                                            \
    "lsls r5, r5, #11\n"                                                                           \
    "ldrsb r4, [r0, r3]\n"                                                                         \
    "adds r5, r5, r4\n"                                                                            \
    "stm r7!, {r5, r6}\n"                                                                          \
    "adds r3, r3, #1\n"

EDGEC_SEPARATE void edgec_tile_3x4_pack(const int8_t *x0, const int8_t *x1, const int8_t *x2,
                                        edgec_tile_3x4_t *to, int32_t depth) {
    /* The index runs up to zero. */
    register const int8_t *first __asm__("r0") = x0 + depth;
    register const int8_t *second __asm__("r1") = x1 + depth;
    register const int8_t *third __asm__("r2") = x2 + depth;
    register int32_t index __asm__("r3") = -depth;
    register edgec_tile_3x4_t *words __asm__("r4") = to;
    __asm__ volatile(
        ".syntax unified\n"
        "push {r7}\n"
        "movs r7, r4\n"
        "lsrs r4, r3, #1\n"
        "bcc 1f\n"
        EDGEC_TILE_3X4_PACK
        "beq 2f\n"
        "1:\n"
        EDGEC_TILE_3X4_PACK
        EDGEC_TILE_3X4_PACK
        "bne 1b\n"
        "2:\n"
        "pop {r7}\n"
        : "+r"(first), "+r"(second), "+r"(third), "+r"(index), "+r"(words)
        :
        : "r5", "r6", "memory", "cc");
}
#undef EDGEC_TILE_3X4_PACK
/* clang-format on */
#else
EDGEC_SEPARATE void edgec_tile_3x4_pack(const int8_t *x0, const int8_t *x1, const int8_t *x2,
                                        edgec_tile_3x4_t *to, int32_t depth) {
    for (int32_t i = 0; i < depth; i++) {
        const uint32_t shared = (uint32_t)(int32_t)x1[i];
        *to++ = (uint32_t)(int32_t)x0[i] + (shared << 21);
        *to++ = (uint32_t)(int32_t)x2[i] + (shared << 10);
    }
}
#endif

/* Adds the three sums that two words of sums hold to `sums`. */
EDGEC_INLINE void edgec_tile_3x4_add(const edgec_tile_3x4_t *words, int32_t *sums) {
    const uint32_t first = words[0];
    const int32_t s0 = (int32_t)(first << 11) >> 11;
    const uint32_t low = (first - (uint32_t)s0) >> 21;
    const uint32_t second = words[1] - (low << 10);
    const int32_t s2 = (int32_t)(second << 11) >> 11;
    sums[0] += s0;
    sums[1] += (int32_t)low + ((int32_t)(second - (uint32_t)s2) >> 10);
    sums[2] += s2;
}

/* The sums of a part of a window with some filters. */
typedef struct edgec_tile_3x4_part {
    const int8_t *weights;       /* of the first filters */
    const edgec_tile_3x4_t *x;   /* activations, up to */
    const edgec_tile_3x4_t *end; /* here */
    edgec_tile_3x4_t *to;        /* two words of sums a filter, up to */
    edgec_tile_3x4_t *to_end;    /* here */
    int32_t skip; /* bytes from the end of these weights to those of the next filters */
} edgec_tile_3x4_part_t;

/* edgec_tile_3x4_sums2 and edgec_tile_3x4_sums4: two or four filters at a time.  The number of
 * activations is a multiple of 4 or 8, at least that. */
#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)
/* One activation of three rows by four weights: sums in r4-r11, activations in r2 and r3, weights
 * in r12. */
/* clang-format off */
#define EDGEC_TILE_3X4_STEP(I)                                                                     \
    "ldr r12, [r0, #4 * " #I "]\n"                                                                 \
    "ldr r2, [r1, #8 * " #I "]\n"                                                                  \
    "ldr r3, [r1, #8 * " #I " + 4]\n"                                                              \
    "sxtb lr, r12\n"                                                                               \
    "mla r4, r2, lr, r4\n"                                                                         \
    "mla r5, r3, lr, r5\n"                                                                         \
    "sxtb lr, r12, ror #8\n"                                                                       \
    "mla r6, r2, lr, r6\n"                                                                         \
    "mla r7, r3, lr, r7\n"                                                                         \
    "sxtb lr, r12, ror #16\n"                                                                      \
    "mla r8, r2, lr, r8\n"                                                                         \
    "mla r9, r3, lr, r9\n"                                                                         \
    "asr lr, r12, #24\n"                                                                           \
    "mla r10, r2, lr, r10\n"                                                                       \
    "mla r11, r3, lr, r11\n"

/* On the stack: activations, their end, where sums go, their end, and what is skipped. */
EDGEC_SEPARATE void edgec_tile_3x4_sums4(const edgec_tile_3x4_part_t *part) {
    register const edgec_tile_3x4_part_t *from __asm__("r0") = part;
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
        "mov r8, #0\n"
        "mov r9, #0\n"
        "mov r10, #0\n"
        "mov r11, #0\n"
        "2:\n"
        EDGEC_TILE_3X4_STEP(0)
        EDGEC_TILE_3X4_STEP(1)
        EDGEC_TILE_3X4_STEP(2)
        EDGEC_TILE_3X4_STEP(3)
        EDGEC_TILE_3X4_STEP(4)
        EDGEC_TILE_3X4_STEP(5)
        EDGEC_TILE_3X4_STEP(6)
        EDGEC_TILE_3X4_STEP(7)
        "add r0, r0, #32\n"
        "add r1, r1, #64\n"
        "ldr r2, [sp, #4]\n"
        "cmp r1, r2\n"
        "bne 2b\n"
        "ldrd r2, r3, [sp, #8]\n"
        "ldr r12, [sp, #16]\n"
        "stm r2!, {r4-r11}\n"
        "str r2, [sp, #8]\n"
        "add r0, r0, r12\n"
        "cmp r2, r3\n"
        "bne 1b\n"
        "add sp, sp, #20\n"
        "pop {r4-r11}\n"
        : "+r"(from)
        :
        : "r1", "r2", "r3", "r12", "lr", "memory", "cc");
}
#undef EDGEC_TILE_3X4_STEP
/* clang-format on */
#define EDGEC_HAS_TILE_3X4_SUMS4 1
#endif

#if defined(__GNUC__) && defined(__ARM_ARCH_6M__)
/* Two activations of three rows by two weights each: sums in r8-r11, activations in r2 and r3,
 * weights in r5, the end of the activations in r12, where sums go in r4. */
/* clang-format off */
#define EDGEC_TILE_3X4_FIRST                                                                       \
    "ldm r1!, {r2, r3}\n"                                                                          \
    "sxtb r6, r5\n"                                                                                \
    "asrs r5, r5, #8\n"                                                                            \
    "movs r7, r6\n"                                                                                \
    "muls r7, r2, r7\n"                                                                            \
    "add r8, r8, r7\n"                                                                             \
    "muls r6, r3, r6\n"                                                                            \
    "add r9, r9, r6\n"
#define EDGEC_TILE_3X4_SECOND(WEIGHT)                                                              \
    "muls r2, " WEIGHT ", r2\n"                                                                    \
    "add r10, r10, r2\n"                                                                           \
    "muls r3, " WEIGHT ", r3\n"                                                                    \
    "add r11, r11, r3\n"
#define EDGEC_TILE_3X4_STEP                                                                        \
    "ldm r0!, {r5}\n"                                                                              \
    EDGEC_TILE_3X4_FIRST                                                                           \
    "sxtb r6, r5\n"                                                                                \
    "asrs r5, r5, #8\n"                                                                            \
    EDGEC_TILE_3X4_SECOND("r6")                                                                    \
    EDGEC_TILE_3X4_FIRST                                                                           \
    EDGEC_TILE_3X4_SECOND("r5")

/* On the stack: activations, their end, where sums go, their end, and what is skipped. */
EDGEC_SEPARATE void edgec_tile_3x4_sums2(const edgec_tile_3x4_part_t *part) {
    register const edgec_tile_3x4_part_t *from __asm__("r0") = part;
    __asm__ volatile(
        ".syntax unified\n"
        "push {r4-r7}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "ldm r0, {r0-r5}\n"
        "push {r1-r5}\n"
        "mov r12, r2\n"
        "movs r4, r3\n"
        "1:\n"
        "ldr r1, [sp]\n"
        "movs r2, #0\n"
        "mov r8, r2\n"
        "mov r9, r2\n"
        "mov r10, r2\n"
        "mov r11, r2\n"
        "2:\n"
        EDGEC_TILE_3X4_STEP
        EDGEC_TILE_3X4_STEP
        "cmp r1, r12\n"
        "bne 2b\n"
        "mov r2, r8\n"
        "mov r3, r9\n"
        "mov r5, r10\n"
        "mov r6, r11\n"
        "stm r4!, {r2, r3, r5, r6}\n"
        "ldr r2, [sp, #16]\n"
        "adds r0, r0, r2\n"
        "ldr r2, [sp, #12]\n"
        "cmp r4, r2\n"
        "bne 1b\n"
        "add sp, sp, #20\n"
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
#undef EDGEC_TILE_3X4_FIRST
#undef EDGEC_TILE_3X4_SECOND
#undef EDGEC_TILE_3X4_STEP
/* clang-format on */
#define EDGEC_HAS_TILE_3X4_SUMS2 1
#endif

/* The same in C for a number of filters. */
EDGEC_INLINE void edgec_tile_3x4_sums(const edgec_tile_3x4_part_t *part, int32_t filters) {
    const int8_t *weights = part->weights;
    for (edgec_tile_3x4_t *to = part->to; to < part->to_end; to += 2 * filters) {
        for (int32_t i = 0; i < 2 * filters; i++) {
            to[i] = 0U;
        }
        for (const edgec_tile_3x4_t *x = part->x; x < part->end; x += 2, weights += filters) {
            for (int32_t filter = 0; filter < filters; filter++) {
                const uint32_t weight = (uint32_t)(int32_t)weights[filter];
                to[2 * filter] += weight * x[0];
                to[2 * filter + 1] += weight * x[1];
            }
        }
        weights += part->skip;
    }
}

#if !defined(EDGEC_HAS_TILE_3X4_SUMS2)
EDGEC_INLINE void edgec_tile_3x4_sums2(const edgec_tile_3x4_part_t *part) {
    edgec_tile_3x4_sums(part, 2);
}
#endif
#if !defined(EDGEC_HAS_TILE_3X4_SUMS4)
EDGEC_INLINE void edgec_tile_3x4_sums4(const edgec_tile_3x4_part_t *part) {
    edgec_tile_3x4_sums(part, 4);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
