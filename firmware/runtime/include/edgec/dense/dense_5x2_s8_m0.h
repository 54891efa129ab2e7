/* Dot products of int8 without the DSP extension: five rows of activations in three words.
 *
 * Of five activations x0 to x4 that meet the same weights, the words
 *
 *     x0 + 2^19 x1        x2 + 2^6 x1 + 2^25 x3        x4 + 2^12 x3        modulo 2^32
 *
 * are made once.  Sums of products of these words, modulo 2^32, hold five sums as long as each fits
 * 19 bits: s0 is in the low 19 bits of the first word, the low 13 bits of s1 are in the rest of it;
 * with these taken off the second word, s2 is in its low 19 bits, the rest of s1 in the next 6, and
 * the low 7 bits of s3 in the rest; with these taken off the third word, it holds s4 and the rest
 * of s3.  So three products do the work of five, and the first two of them that of three.  A sum is
 * cut into parts for which sum |w| <= 2047 (edgec/kernels/m0/dense_5x2_s8_m0): then
 * 128 sum |w| < 2^18.
 *
 *     activations  [depth][3 words]        edgec_dense_5x2_pack
 *     weights      [depth][2] bytes        edgec/kernels/common/dense.py
 */
#ifndef EDGEC_DENSE_DENSE_5X2_S8_M0_H
#define EDGEC_DENSE_DENSE_5X2_S8_M0_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/rescale16.h"
#include "edgec/arithmetic/short_products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of activations whose sums are computed together, and words of them or of their sums. */
#define EDGEC_DENSE_5X2_ROWS 5
#define EDGEC_DENSE_5X2_WORDS 3

/* A word of activations or of sums; it may lie in an arena of bytes. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) edgec_dense_5x2_t;
#else
typedef uint32_t edgec_dense_5x2_t;
#endif

/* Rows of the next block, 3 or 5, of the `left` ones: two blocks of 3 cost less than 5 and 1. */
EDGEC_INLINE int32_t edgec_dense_5x2_count(int32_t left) {
    const int32_t most = (left > 3 && left != 6) ? EDGEC_DENSE_5X2_ROWS : 3;
    return edgec_min_s32(left, most);
}

/* Operands of the sums of one segment of the depth with some filters. */
typedef struct edgec_dense_5x2_part {
    const int8_t *weights;        /* of the first two filters */
    const edgec_dense_5x2_t *x;   /* activations, up to */
    const edgec_dense_5x2_t *end; /* here */
    edgec_dense_5x2_t *to;        /* three words of sums a filter, up to */
    edgec_dense_5x2_t *to_end;    /* here */
    int32_t skip;  /* bytes from the end of these weights to those of the next two filters */
    int32_t leave; /* activations without the first one short of a multiple of eight, 8 for none */
} edgec_dense_5x2_part_t;

/* Adds the three sums that the first two words of sums hold to `sums`; returns 2^25 times the low 7
 * bits of the next one. */
EDGEC_INLINE uint32_t edgec_dense_5x2_add3(const edgec_dense_5x2_t *words, int32_t *sums) {
    const uint32_t first = words[0];
    const int32_t s0 = (int32_t)(first << 13) >> 13;
    const uint32_t low1 = first - (uint32_t)s0; /* the low 13 bits of s1, at bit 19 */
    const uint32_t second = words[1] - (low1 >> 13);
    const int32_t s2 = (int32_t)(second << 13) >> 13;
    const uint32_t rests = second - (uint32_t)s2;
    const int32_t high1 = (int32_t)(rests << 7) >> 26;
    sums[0] += s0;
    sums[1] += (int32_t)((low1 >> 19) + ((uint32_t)high1 << 13));
    sums[2] += s2;
    return rests - ((uint32_t)high1 << 19);
}

/* Adds the five sums that three words of sums hold to `sums`. */
EDGEC_INLINE void edgec_dense_5x2_add(const edgec_dense_5x2_t *words, int32_t *sums) {
    const uint32_t low3 = edgec_dense_5x2_add3(words, sums);
    const uint32_t third = words[2] - (low3 >> 13);
    const int32_t s4 = (int32_t)(third << 13) >> 13;
    sums[3] += (int32_t)(low3 >> 25) + ((int32_t)(third - (uint32_t)s4) >> 12);
    sums[4] += s4;
}

#if !defined(__GNUC__) || defined(__aarch64__) || !(defined(__thumb2__) || defined(__ARM_ARCH_6M__))
/* The words of `depth` activations of five rows. */
EDGEC_SEPARATE void edgec_dense_5x2_pack(const int8_t *const *rows, edgec_dense_5x2_t *to,
                                         int32_t depth) {
    for (int32_t i = 0; i < depth; i++) {
        const uint32_t x1 = (uint32_t)(int32_t)rows[1][i];
        const uint32_t x3 = (uint32_t)(int32_t)rows[3][i];
        *to++ = (uint32_t)(int32_t)rows[0][i] + (x1 << 19);
        *to++ = (uint32_t)(int32_t)rows[2][i] + (x1 << 6) + (x3 << 25);
        *to++ = (uint32_t)(int32_t)rows[4][i] + (x3 << 12);
    }
}

/* Some of the words of sums of all filters, two at a time. */
EDGEC_INLINE void edgec_dense_5x2_words(const edgec_dense_5x2_part_t *part, int32_t words) {
    const int8_t *weights = part->weights;
    for (edgec_dense_5x2_t *to = part->to; to < part->to_end; to += 2 * EDGEC_DENSE_5X2_WORDS) {
        for (int32_t i = 0; i < 2 * EDGEC_DENSE_5X2_WORDS; i++) {
            to[i] = 0U;
        }
        for (const edgec_dense_5x2_t *x = part->x; x < part->end; x += EDGEC_DENSE_5X2_WORDS) {
            for (int32_t i = 0; i < words; i++) {
                to[i] += (uint32_t)(int32_t)weights[0] * x[i];
                to[EDGEC_DENSE_5X2_WORDS + i] += (uint32_t)(int32_t)weights[1] * x[i];
            }
            weights += 2;
        }
        weights += part->skip;
    }
}

/* The words of sums of all filters. */
EDGEC_SEPARATE void edgec_dense_5x2_sums(const edgec_dense_5x2_part_t *part) {
    edgec_dense_5x2_words(part, 3);
}

/* The first two of three of them; the third ones mean nothing. */
EDGEC_SEPARATE void edgec_dense_5x2_sums3(const edgec_dense_5x2_part_t *part) {
    edgec_dense_5x2_words(part, 2);
}
#endif

#ifdef __cplusplus
}
#endif

/* The same in assembly, where it is. */
#include "edgec/dense/dense_5x2_armv6m.h"
#include "edgec/dense/dense_5x2_thumb2.h"

#endif
