/* Layers of int16 activations by int8 weights: two pixels by two filters at a time.
 *
 * SMLAD multiplies two pairs of int16.  Activations are int16 already, weights are widened as they
 * are used: SXTB16 takes the bytes 0 and 2 of a word, and rotated by 8 the bytes 1 and 3.  So the
 * weights w0, w1, w2, w3 lie as w0, w2, w1, w3, and become the pairs (w0, w1) and (w2, w3).
 *
 *     activations  [2 pixels][depth] int16, depth a multiple of 8
 *     weights      [depth / 4][2 filters][4 bytes]
 *
 * One step of a word: 2 words of weights, 4 of activations, 4 SXTB16, 8 SMLAD for 16 products.
 */
#ifndef EDGEC_DENSE_DENSE_2X2_S16_DSP_H
#define EDGEC_DENSE_DENSE_2X2_S16_DSP_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/dense/dense_3x2_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the activations of neighbouring pixels. */
EDGEC_INLINE void edgec_dense_2x2_copy(const int16_t *from, int16_t *to, int32_t count) {
    int32_t left = count;
    for (; left >= 4; left -= 4) {
        const uint32_t first = edgec_word_at(from);
        const uint32_t second = edgec_word_at(from + 2);
        memcpy(to, &first, sizeof first);
        memcpy(to + 2, &second, sizeof second);
        from += 4;
        to += 4;
    }
    for (; left > 0; left--) {
        *to++ = *from++;
    }
}

/* The same of int8 activations, less their zero point. */
EDGEC_INLINE void edgec_dense_2x2_widen(const int8_t *from, int16_t *to, int32_t count,
                                        int32_t zero_point) {
    for (int32_t i = 0; i < count; i++) {
        to[i] = (int16_t)(from[i] - zero_point);
    }
}

#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* Two pixels by two filters by four activations; the pixels are %[step] bytes apart. */
#define EDGEC_DENSE_2X2_WORD                                                                       \
    "ldr %[b], [%[w], #4]\n\t"                                                                     \
    "ldr %[a], [%[w]], #8\n\t"                                                                     \
    "ldr %[y], [%[x], %[step]]\n\t"                                                                \
    "ldr %[z], [%[x]], #4\n\t"                                                                     \
    "sxtb16 %[t], %[a]\n\t"                                                                        \
    "smlad %[s0], %[z], %[t], %[s0]\n\t"                                                           \
    "smlad %[s2], %[y], %[t], %[s2]\n\t"                                                           \
    "sxtb16 %[t], %[b]\n\t"                                                                        \
    "smlad %[s1], %[z], %[t], %[s1]\n\t"                                                           \
    "smlad %[s3], %[y], %[t], %[s3]\n\t"                                                           \
    "ldr %[y], [%[x], %[step]]\n\t"                                                                \
    "ldr %[z], [%[x]], #4\n\t"                                                                     \
    "sxtb16 %[t], %[a], ror #8\n\t"                                                                \
    "smlad %[s0], %[z], %[t], %[s0]\n\t"                                                           \
    "smlad %[s2], %[y], %[t], %[s2]\n\t"                                                           \
    "sxtb16 %[t], %[b], ror #8\n\t"                                                                \
    "smlad %[s1], %[z], %[t], %[s1]\n\t"                                                           \
    "smlad %[s3], %[y], %[t], %[s3]\n\t"
#endif

/* sums[2 * pixel + filter] = the dot products of `count` activations of two pixels, whose second
 * one lies `depth` int16 after the first, with two filters.  The pixels are aligned to words, and
 * `count` is a multiple of 8. */
#if defined(__GNUC__)
__attribute__((noinline, unused))
#endif
static void
edgec_dense_2x2_dot_2x2(const int8_t *weights, const edgec_pair_t *pixels, int32_t depth,
                        int32_t count, int32_t *sums) {
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;
/* Without optimization a register holds the frame, and too few are left, as always with Clang. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__OPTIMIZE__) &&                  \
    !defined(__clang__)
    const edgec_pair_t *const end = pixels + count / 2;
    const int32_t step = depth * 2;
    uint32_t a;
    uint32_t b;
    uint32_t y;
    uint32_t z;
    uint32_t t;
    __asm__ volatile("1:\n\t" EDGEC_DENSE_2X2_WORD EDGEC_DENSE_2X2_WORD "cmp %[x], %[end]\n\t"
                     "bne 1b\n\t"
                     : [w] "+&r"(weights), [x] "+&r"(pixels), [s0] "+&r"(sum0), [s1] "+&r"(sum1),
                       [s2] "+&r"(sum2), [s3] "+&r"(sum3), [a] "=&r"(a), [b] "=&r"(b), [y] "=&r"(y),
                       [z] "=&r"(z), [t] "=&r"(t)
                     : [step] "r"(step), [end] "r"(end)
                     : "cc", "memory");
#else
    const edgec_pair_t *const second = pixels + depth / 2;
    for (int32_t i = 0; i < count / 2; i += 2) {
        const uint32_t a = edgec_word_at(weights);
        const uint32_t b = edgec_word_at(weights + 4);
        sum0 = edgec_pair_dot(pixels[i], edgec_sxtb16(a), sum0);
        sum1 = edgec_pair_dot(pixels[i], edgec_sxtb16(b), sum1);
        sum2 = edgec_pair_dot(second[i], edgec_sxtb16(a), sum2);
        sum3 = edgec_pair_dot(second[i], edgec_sxtb16(b), sum3);
        sum0 = edgec_pair_dot(pixels[i + 1], edgec_sxtb16_high(a), sum0);
        sum1 = edgec_pair_dot(pixels[i + 1], edgec_sxtb16_high(b), sum1);
        sum2 = edgec_pair_dot(second[i + 1], edgec_sxtb16_high(a), sum2);
        sum3 = edgec_pair_dot(second[i + 1], edgec_sxtb16_high(b), sum3);
        weights += 8;
    }
#endif
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

#ifdef __cplusplus
}
#endif

#endif
