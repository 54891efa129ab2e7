/* Dot products of int8 with the DSP extension: three rows with two filters at a time.
 *
 * SMLAD multiplies two pairs of int16.  Activations are widened once and serve all filters; weights
 * stay int8 in memory and are widened as they are used.  SXTB16 takes the bytes 0 and 2 of a word,
 * and rotated by 8 the bytes 1 and 3, so a word of four values becomes the two words
 * (0, 2) and (1, 3) on both sides, and no byte is moved.
 *
 *     activations  [words][3 rows][2 words]     edgec_widen3
 *     weights      [words][2 filters][4 bytes]    edgec/kernels/common/dense.py
 *
 * One step of a word: 2 words of weights, 6 of activations, 4 SXTB16, 12 SMLAD for 24 products.
 * Words come in pairs (the loop is unrolled twice).  The C form computes the same, exactly.
 */
#ifndef EDGEC_DENSE_DENSE_3X2_S8_DSP_H
#define EDGEC_DENSE_DENSE_3X2_S8_DSP_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of x whose sums are computed together. */
#define EDGEC_DENSE_3X2_ROWS 3

/* Two int16 in a word; it may lie in an arena of bytes. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) edgec_pair_t;
#else
typedef uint32_t edgec_pair_t;
#endif

/* The bytes 0 and 2 of a word as two int16. */
EDGEC_INLINE uint32_t edgec_sxtb16(uint32_t word) {
#if defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(word));
    return result;
#else
    const uint32_t low = (uint32_t)(int32_t)(int8_t)(word & 0xFFU);
    const uint32_t high = (uint32_t)(int32_t)(int8_t)((word >> 16) & 0xFFU);
    return (low & 0xFFFFU) | (high << 16);
#endif
}

/* The bytes 1 and 3 of a word as two int16. */
EDGEC_INLINE uint32_t edgec_sxtb16_high(uint32_t word) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(word));
    return result;
#else
    return edgec_sxtb16((word >> 8) | (word << 24));
#endif
}

/* The bytes 1, 0, 3 and 2 of a word. */
EDGEC_INLINE uint32_t edgec_swapped_bytes(uint32_t word) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("rev16 %0, %1" : "=r"(result) : "r"(word));
    return result;
#else
    return ((word & 0x00FF00FFU) << 8) | ((word >> 8) & 0x00FF00FFU);
#endif
}

/* The differences of both halves. */
EDGEC_INLINE uint32_t edgec_pair_minus(uint32_t a, uint32_t b) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("ssub16 %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
#else
    return ((a - b) & 0xFFFFU) | ((a & 0xFFFF0000U) - (b & 0xFFFF0000U));
#endif
}

/* Widens one word of four values. */
EDGEC_INLINE void edgec_widen(uint32_t word, edgec_pair_t *to) {
    to[0] = edgec_sxtb16(word);
    to[1] = edgec_sxtb16_high(word);
}

/* Widens `words` * 4 activations of one row: `to` is that row's first word. */
EDGEC_INLINE void edgec_widen3(const int8_t *from, edgec_pair_t *to, int32_t words) {
    uint32_t first;
    uint32_t second;
    for (; words >= 2; words -= 2) {
        memcpy(&first, from, sizeof first);
        memcpy(&second, from + 4, sizeof second);
        edgec_widen(first, to);
        edgec_widen(second, to + 2 * EDGEC_DENSE_3X2_ROWS);
        from += 8;
        to += 4 * EDGEC_DENSE_3X2_ROWS;
    }
    if (words > 0) {
        memcpy(&first, from, sizeof first);
        edgec_widen(first, to);
    }
}

/* Fills `words` words of one row with padding: two equal int16 a word. */
EDGEC_INLINE void edgec_fill3(uint32_t padding, edgec_pair_t *to, int32_t words) {
    for (int32_t i = 0; i < words; i++) {
        to[0] = padding;
        to[1] = padding;
        to += 2 * EDGEC_DENSE_3X2_ROWS;
    }
}

/* sums[2 * row + filter] += the dot products over an even number of words, which end at
 * `weights_end`.  There is at least one pair of words. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
__attribute__((noinline, unused)) static void edgec_dot_3x2(const int8_t *weights,
                                                            const edgec_pair_t *activations,
                                                            int32_t *sums,
                                                            const int8_t *weights_end) {
    register const int8_t *w __asm__("r0") = weights;
    register const edgec_pair_t *x __asm__("r1") = activations;
    register int32_t *s __asm__("r2") = sums;
    register const int8_t *end __asm__("r3") = weights_end;
    /* Sums in r4-r9, weights in r2, r3, r10, r11, activations in r12 and lr: all registers are in
     * use, so the end of the loop is on the stack. */
    __asm__ volatile("push {r2-r11, lr}\n"
                     "ldm r2, {r4-r9}\n"
                     "1:\n"
                     ".rept 2\n"
                     "ldm r0!, {r3, r11}\n"
                     "sxtb16 r2, r3\n"
                     "sxtb16 r3, r3, ror #8\n"
                     "sxtb16 r10, r11\n"
                     "sxtb16 r11, r11, ror #8\n"
                     "ldm r1!, {r12, lr}\n"
                     "smlad r4, r2, r12, r4\n"
                     "smlad r5, r10, r12, r5\n"
                     "smlad r4, r3, lr, r4\n"
                     "smlad r5, r11, lr, r5\n"
                     "ldm r1!, {r12, lr}\n"
                     "smlad r6, r2, r12, r6\n"
                     "smlad r7, r10, r12, r7\n"
                     "smlad r6, r3, lr, r6\n"
                     "smlad r7, r11, lr, r7\n"
                     "ldm r1!, {r12, lr}\n"
                     "smlad r8, r2, r12, r8\n"
                     "smlad r9, r10, r12, r9\n"
                     "smlad r8, r3, lr, r8\n"
                     "smlad r9, r11, lr, r9\n"
                     ".endr\n"
                     "ldr r12, [sp, #4]\n"
                     "cmp r0, r12\n"
                     "bne 1b\n"
                     "ldr r2, [sp]\n"
                     "stm r2, {r4-r9}\n"
                     "pop {r2-r11, lr}\n"
                     : "+r"(w), "+r"(x), "+r"(s), "+r"(end)
                     :
                     : "r12", "memory", "cc");
}
#else
EDGEC_INLINE int32_t edgec_smlad(uint32_t a, uint32_t b, int32_t sum) {
    return sum + (int32_t)(int16_t)(a & 0xFFFFU) * (int16_t)(b & 0xFFFFU) +
           (int32_t)(int16_t)(a >> 16) * (int16_t)(b >> 16);
}

EDGEC_INLINE void edgec_dot_3x2(const int8_t *weights, const edgec_pair_t *activations,
                                int32_t *sums, const int8_t *weights_end) {
    for (const int8_t *w = weights; w < weights_end; w += 8) {
        for (int32_t filter = 0; filter < 2; filter++) {
            uint32_t word;
            memcpy(&word, w + 4 * filter, sizeof word);
            const uint32_t even = edgec_sxtb16(word);
            const uint32_t odd = edgec_sxtb16_high(word);
            for (int32_t row = 0; row < EDGEC_DENSE_3X2_ROWS; row++) {
                int32_t *const sum = sums + 2 * row + filter;
                *sum = edgec_smlad(even, activations[2 * row], *sum);
                *sum = edgec_smlad(odd, activations[2 * row + 1], *sum);
            }
        }
        activations += 2 * EDGEC_DENSE_3X2_ROWS;
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
