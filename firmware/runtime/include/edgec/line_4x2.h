/* What a line of output pixels reads, widened for the products of tile_4x2.h.
 *
 *     columns  [columns][rows of the window][channels / 4][2 words]
 *
 * Windows that overlap share columns: that of output pixel t begins `stride` columns after that of
 * pixel t - 1, and its values follow each other.  Columns outside the image hold padding. */
#ifndef EDGEC_LINE_4X2_H
#define EDGEC_LINE_4X2_H

#include <stdint.h>

#include "edgec/tile_4x2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Widens `words` * 4 values of one row to `to` and on; `start` - 128 * (all x0 +
 * x2).  `any`, a constant: the second form of the rows in tile_4x2.h. */
EDGEC_INLINE int32_t edgec_line_run(const int8_t *from, edgec_pair_t *to, int32_t words,
                                    int32_t any, int32_t start) {
    const uint32_t minus_128 = edgec_kept(EDGEC_TILE_4X2_MINUS_128);
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

/* Where a row of the image goes: `columns` columns, of which those from `left` to `end` lie inside
 * the image; `words` of four channels in a pixel, `step` words from a column to the next. */
typedef struct edgec_line_row {
    int32_t columns;
    int32_t left;
    int32_t end;
    int32_t words;
    int32_t step;
} edgec_line_row_t;

/* Padding, `word`, for the columns `first` to `end`. */
EDGEC_INLINE void edgec_line_fill(uint32_t word, edgec_pair_t *to, edgec_s32_t *totals,
                                  int32_t first, int32_t end, edgec_line_row_t row, int32_t any) {
    const uint32_t minus_128 = edgec_kept(EDGEC_TILE_4X2_MINUS_128);
    for (int32_t c = first; c < end; c++) {
        int32_t sum = totals[c];
        for (int32_t i = 0; i < row.words; i++) {
            sum = edgec_widen_word(word, to + c * row.step + 2 * i, 1, minus_128, any, sum);
        }
        totals[c] = sum;
    }
}

/* One row of the image, `from` its first pixel inside, in each column; `totals` of the columns take
 * its part. */
EDGEC_INLINE void edgec_line_row(const int8_t *from, uint32_t padding, edgec_pair_t *to,
                                 edgec_s32_t *totals, edgec_line_row_t row, int32_t any) {
    edgec_line_fill(padding, to, totals, 0, row.left, row, any);
    edgec_pair_t *at = to + row.left * row.step;
    for (int32_t c = row.left; c < row.end; c++, at += row.step, from += 4 * row.words) {
        totals[c] = edgec_line_run(from, at, row.words, any, totals[c]);
    }
    edgec_line_fill(padding, to, totals, row.end, row.columns, row, any);
}

/* Where the sums of `pixels` pixels start: by the totals of the `taps` columns of
 * each. */
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
