/* Sums over bit planes, word by word: `edgec.ir.qops.plane_layers` says how they give products.
 *
 * A row is [planes][words]: the bits of one weight of all elements, 32 to a word.
 */
#ifndef EDGEC_DENSE_PLANE_WORDS_H
#define EDGEC_DENSE_PLANE_WORDS_H

#include <stdint.h>

#include "edgec/dense/binary_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The planes of a gathered window [taps][planes][words], one after another: [planes][taps][words].
 */
EDGEC_INLINE void edgec_planes_split(const uint32_t *from, uint32_t *to, int32_t planes,
                                     int32_t taps, int32_t words) {
    for (int32_t plane = 0; plane < planes; plane++) {
        const uint32_t *next = from + plane * words;
        for (int32_t tap = 0; tap < taps; tap++, next += planes * words) {
            for (int32_t n = 0; n < words; n++) {
                *to++ = next[n];
            }
        }
    }
}

/* The sum of the codes of a row. */
EDGEC_INLINE int32_t edgec_planes_sum(const uint32_t *row, int32_t planes, int32_t words) {
    const edgec_bit_masks_t masks = edgec_bit_masks();
    uint32_t total = 0;
    for (int32_t plane = 0; plane < planes; plane++) {
        for (int32_t n = 0; n < words; n++) {
            const uint32_t bytes = edgec_bits_joined(edgec_bits_of_fours(*row++, masks), masks);
            total += ((bytes * UINT32_C(0x01010101)) >> 24) << plane;
        }
    }
    return (int32_t)total;
}

/* The number of bits in which planes i and j of two rows differ, times 2^(i + j), over all i and j.
 */
EDGEC_INLINE int32_t edgec_planes_apart(const uint32_t *x, const uint32_t *w, int32_t x_planes,
                                        int32_t w_planes, int32_t words) {
    uint32_t total = 0;
    for (int32_t j = 0; j < w_planes; j++) {
        for (int32_t i = 0; i < x_planes; i++) {
            total += (uint32_t)edgec_bits_apart(x + i * words, w + j * words, words) << (i + j);
        }
    }
    return (int32_t)total;
}

#ifdef __cplusplus
}
#endif

#endif
