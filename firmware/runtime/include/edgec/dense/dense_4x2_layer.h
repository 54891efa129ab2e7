/* Matrix product of int8 in tiles of four rows by two filters, with loops that several layers
 * share.  The outputs of a block are computed by a function of dense_4x2_high_word.h,
 * dense_4x2_tflite.h or dense_4x2_shared.h. */
#ifndef EDGEC_DENSE_DENSE_4X2_LAYER_H
#define EDGEC_DENSE_DENSE_4X2_LAYER_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_4x2_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function that computes and stores the outputs of a block of rows. */
typedef void edgec_dense_4x2_outputs_t(const int8_t *filters, const edgec_pair_t *rows,
                                       const edgec_dense_4x2_out_t *out);

/* Sizes of a layer, and the function of its blocks. */
typedef struct edgec_dense_4x2_layer {
    edgec_dense_4x2_outputs_t *outputs4; /* of blocks of four rows */
    edgec_dense_4x2_outputs_t *outputs3; /* of blocks of three, which come last */
    int32_t rows;
    int32_t rows_by_four;
    int32_t channels;  /* of a row of x, in bytes */
    int32_t words;     /* of a filter; zeros fill up its last one */
    int32_t row_bytes; /* of y */
    int32_t stored;    /* bytes of the filters */
    int32_t left;      /* of the shift, for functions that layers share */
    int32_t patch;     /* place in scratch of a row that is filled up */
} edgec_dense_4x2_layer_t;

/* Places of the rows 1 to 3 of a block after its row 0, in bytes, where its last row is number
 * `last`: a block of two rows has the rows 0, 0, 0 and 1, one of three the rows 0, 1, 2 and 2. */
EDGEC_INLINE void edgec_dense_4x2_set_places(int32_t *places, int32_t last, int32_t bytes) {
    places[0] = (last >> 1) * bytes;
    places[1] = (last & 2) * bytes;
    places[2] = last * bytes;
}

/* y [rows, row_bytes] of x [rows, channels]; the rows of a block are read before their outputs are
 * written.  `offset`: the value of `own` for functions whose filters share one offset. */
EDGEC_SEPARATE void edgec_dense_4x2_layer(const int8_t *x, int8_t *y, int8_t *scratch,
                                          const int8_t *filters, int32_t offset,
                                          const edgec_dense_4x2_layer_t *layer) {
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const edgec_pair_t *const pairs = widened + 2 * EDGEC_DENSE_4X2_ROWS;
    const int32_t channels = layer->channels;
    edgec_dense_4x2_out_t out;
    out.rows_end = pairs + layer->words * 2 * EDGEC_DENSE_4X2_ROWS;
    out.filters_end = filters + layer->stored;
    out.own.offset = offset;
    out.left = layer->left;
    out.bias = NULL;
    out.numbers = NULL;
    int32_t tall = 0;
    for (int32_t first = 0; first < layer->rows; first += tall) {
        const int32_t left = layer->rows - first;
        tall = (first < layer->rows_by_four) ? EDGEC_DENSE_4X2_ROWS : EDGEC_DENSE_4X2_FEWER;
        const int32_t last = edgec_min_s32(left, tall) - 1;
        const int32_t step = (last < 2) ? 0 : channels;
        edgec_dense_4x2_set_places(out.places, last, layer->row_bytes);
        if (left <= tall && channels < 4 * layer->words) {
            edgec_widen4_filled(x, widened, layer->words, step, last * channels, channels,
                                scratch + layer->patch);
        } else {
            edgec_widen4_block(x, widened, layer->words, step, last * channels);
        }
        out.y = y;
        ((first < layer->rows_by_four) ? layer->outputs4 : layer->outputs3)(filters, pairs, &out);
        x += tall * channels;
        y += tall * layer->row_bytes;
    }
}

#ifdef __cplusplus
}
#endif

#endif
