/* Depthwise convolutions of three columns with the DSP extension, on planes of int16.
 *
 * Four channels at a time are taken apart: a plane holds one channel of some rows of the image, two
 * neighbouring columns in a word, with the padding around them, so that no window asks where it
 * lies.  One row of weights w0, w1, w2 is the words (w0, w1) and (w1, w2).
 *
 *     planes   [4 channels][rows][pairs of columns]
 *     weights  [channels][rows of the window][w0, w1, w2, 0]
 */
#ifndef EDGEC_PLANES_H
#define EDGEC_PLANES_H

#include <stdint.h>

#include "edgec/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channels whose planes are made together. */
#define EDGEC_PLANES 4

/* The low halves of a and b. */
EDGEC_INLINE uint32_t edgec_lows(uint32_t a, uint32_t b) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(result) : "r"(a), "r"(b));
    return result;
#else
    return (a & 0xFFFFU) | (b << 16);
#endif
}

/* The high halves of a and b. */
EDGEC_INLINE uint32_t edgec_highs(uint32_t a, uint32_t b) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(result) : "r"(b), "r"(a));
    return result;
#else
    return (a >> 16) | (b & 0xFFFF0000U);
#endif
}

/* Four channels of the neighbouring pixels a and b, each to its plane of `plane` words. */
EDGEC_INLINE void edgec_plane_pair(uint32_t a, uint32_t b, edgec_pair_t *to, int32_t plane) {
    const uint32_t low = edgec_lows(a, b);
    const uint32_t high = edgec_highs(a, b);
    to[0] = edgec_sxtb16(low);
    to[plane] = edgec_sxtb16_high(low);
    to[2 * plane] = edgec_sxtb16(high);
    to[3 * plane] = edgec_sxtb16_high(high);
}

/* The pairs `first` to `end` of a row that lie outside the image: four times the code of padding.
 */
EDGEC_INLINE void edgec_plane_fill(uint32_t padding, edgec_pair_t *to, int32_t plane, int32_t first,
                                   int32_t end) {
    for (int32_t j = first; j < end; j++) {
        edgec_plane_pair(padding, padding, to + j, plane);
    }
}

/* How the columns of an image lie in a plane: `pairs` of them in a row, the first `left` columns
 * are padding, and so are those after `width` more; `channels` bytes from pixel to pixel. */
typedef struct edgec_plane_columns {
    int32_t pairs;
    int32_t left;
    int32_t width;
    int32_t channels;
} edgec_plane_columns_t;

/* The word of column `column` of the image, or padding. */
EDGEC_INLINE uint32_t edgec_plane_word(const int8_t *row, int32_t column, edgec_plane_columns_t c,
                                       uint32_t padding) {
    return (column >= 0 && column < c.width) ? edgec_word_at(row + column * c.channels) : padding;
}

/* A row of an image; `row` is its first pixel, at the first of the four channels. */
EDGEC_INLINE void edgec_plane_row(const int8_t *row, edgec_pair_t *to, int32_t plane,
                                  edgec_plane_columns_t c, uint32_t padding) {
    const int32_t inside = (c.left + 1) / 2;
    const int32_t end = edgec_min_s32((c.left + c.width) / 2, c.pairs);
    int32_t j = 0;
    for (; j < edgec_min_s32(inside, c.pairs); j++) {
        const int32_t column = 2 * j - c.left;
        edgec_plane_pair(edgec_plane_word(row, column, c, padding),
                         edgec_plane_word(row, column + 1, c, padding), to + j, plane);
    }
    const int8_t *from = row + (2 * j - c.left) * c.channels;
    for (; j < end; j++, from += 2 * c.channels) {
        edgec_plane_pair(edgec_word_at(from), edgec_word_at(from + c.channels), to + j, plane);
    }
    for (; j < c.pairs; j++) {
        const int32_t column = 2 * j - c.left;
        edgec_plane_pair(edgec_plane_word(row, column, c, padding),
                         edgec_plane_word(row, column + 1, c, padding), to + j, plane);
    }
}

/* A row of weights. */
typedef struct edgec_taps3 {
    uint32_t first; /* (w0, w1) */
    uint32_t last;  /* (w1, w2) */
} edgec_taps3_t;

EDGEC_INLINE edgec_taps3_t edgec_taps3(const int8_t *weights) {
    const uint32_t word = edgec_word_at(weights);
    const uint32_t even = edgec_sxtb16(word);
    const uint32_t odd = edgec_sxtb16_high(word);
    /* (w0, w2) and (w1, 0) */
    const edgec_taps3_t taps = {edgec_lows(even, odd), (odd & 0xFFFFU) | (even & 0xFFFF0000U)};
    return taps;
}

/* `sum` plus a row of weights times the columns 0, 1, 2 of the words a and b. */
EDGEC_INLINE int32_t edgec_taps3_even(edgec_taps3_t taps, uint32_t a, uint32_t b, int32_t sum) {
    return edgec_high_low(taps.last, b, edgec_pair_dot(a, taps.first, sum));
}

/* `even` and `odd` plus a row of weights times the columns 0, 1, 2 and 1, 2, 3 of two words. */
EDGEC_INLINE void edgec_taps3_both(edgec_taps3_t taps, const edgec_pair_t *words, int32_t *even,
                                   int32_t *odd) {
    *even = edgec_taps3_even(taps, words[0], words[1], *even);
    *odd = edgec_high_low(words[0], taps.first, edgec_pair_dot(words[1], taps.last, *odd));
}

#ifdef __cplusplus
}
#endif

#endif
