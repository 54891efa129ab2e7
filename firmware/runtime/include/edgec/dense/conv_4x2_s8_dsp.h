/* Input of one row of output pixels, widened to int16 once for the products of dense_4x2_s8_dsp.h.
 *
 *     columns  [columns][rows of the window][channels / 4][2 words]
 *
 * Overlapping windows share columns: the window of output pixel t begins `stride` columns after
 * that of pixel t - 1, and is contiguous.  Columns outside the image hold padding. */
#ifndef EDGEC_DENSE_CONV_4X2_S8_DSP_H
#define EDGEC_DENSE_CONV_4X2_S8_DSP_H

#include <stdint.h>

#include "edgec/dense/dense_4x2_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Widens `words` * 4 values of one row to `to` and on.  Returns `start` - 128 * (sum of all x0 and
 * x2).  `any`, a constant: 1 for the second form of the rows in dense_4x2_s8_dsp.h. */
EDGEC_INLINE int32_t edgec_conv_widen(const int8_t *from, edgec_pair_t *to, int32_t words,
                                      int32_t any, int32_t start) {
    const uint32_t minus_128 = edgec_kept(EDGEC_DENSE_4X2_MINUS_128);
    for (; words >= 4; words -= 4, from += 16, to += 8) {
        const uint32_t first = edgec_word_at(from);
        const uint32_t second = edgec_word_at(from + 4);
        const uint32_t third = edgec_word_at(from + 8);
        const uint32_t fourth = edgec_word_at(from + 12);
        start = edgec_widen_word(first, to, 1, minus_128, any, start);
        start = edgec_widen_word(second, to + 2, 1, minus_128, any, start);
        start = edgec_widen_word(third, to + 4, 1, minus_128, any, start);
        start = edgec_widen_word(fourth, to + 6, 1, minus_128, any, start);
    }
    for (; words > 0; words--, from += 4, to += 2) {
        start = edgec_widen_word(edgec_word_at(from), to, 1, minus_128, any, start);
    }
    return start;
}

/* Layout of a row of the image: `columns` columns, of which those from `left` to `end` are inside
 * the image; `words` of four channels in a pixel, `step` words from a column to the next. */
typedef struct edgec_line_row {
    int32_t columns;
    int32_t left;
    int32_t end;
    int32_t words;
    int32_t step;
} edgec_line_row_t;

/* Fills the columns `first` to `end` with padding, `word`. */
EDGEC_INLINE void edgec_line_fill(uint32_t word, edgec_pair_t *to, edgec_s32_t *totals,
                                  int32_t first, int32_t end, edgec_line_row_t row, int32_t any) {
    const uint32_t minus_128 = edgec_kept(EDGEC_DENSE_4X2_MINUS_128);
    for (int32_t c = first; c < end; c++) {
        int32_t sum = totals[c];
        for (int32_t i = 0; i < row.words; i++) {
            sum = edgec_widen_word(word, to + c * row.step + 2 * i, 1, minus_128, any, sum);
        }
        totals[c] = sum;
    }
}

/* Widens one row of the image, `from` its first pixel inside, and adds it to the `totals` of its
 * columns. */
EDGEC_INLINE void edgec_line_row(const int8_t *from, uint32_t padding, edgec_pair_t *to,
                                 edgec_s32_t *totals, edgec_line_row_t row, int32_t any) {
    edgec_line_fill(padding, to, totals, 0, row.left, row, any);
    edgec_pair_t *at = to + row.left * row.step;
    for (int32_t c = row.left; c < row.end; c++, at += row.step, from += 4 * row.words) {
        totals[c] = edgec_conv_widen(from, at, row.words, any, totals[c]);
    }
    edgec_line_fill(padding, to, totals, row.end, row.columns, row, any);
}

/* Initial values of the sums of `pixels` pixels: totals over the `taps` columns of each window. */
EDGEC_INLINE void edgec_line_starts(const edgec_s32_t *totals, edgec_s32_t *starts, int32_t pixels,
                                    int32_t taps, int32_t stride) {
    for (int32_t t = 0; t < pixels; t++, totals += stride) {
        int32_t sum = 0;
        for (int32_t kx = 0; kx < taps; kx++) {
            sum += totals[kx];
        }
        starts[t] = sum;
    }
}

#ifdef __cplusplus
}
#endif

#endif
