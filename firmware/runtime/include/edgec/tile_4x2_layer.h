/* A matrix product of int8, four rows by two filters, whose loops layers share; what makes outputs
 * from rows is one of the functions of tile_4x2_high.h, tile_4x2_exact.h or tile_4x2_shared.h. */
#ifndef EDGEC_TILE_4X2_LAYER_H
#define EDGEC_TILE_4X2_LAYER_H

#include <stdint.h>
#include <string.h>

#include "edgec/math.h"
#include "edgec/tile_4x2_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A layer in numbers. */
typedef struct edgec_tile_4x2_layer {
    void (*outputs)(const int8_t *filters, const edgec_pair_t *rows,
                    const edgec_tile_4x2_out_t *out);
    int32_t rows;
    int32_t channels;  /* of a row of x, in bytes */
    int32_t words;     /* of a filter; zeros fill up its last one */
    int32_t row_bytes; /* of y */
    int32_t stored;    /* bytes of the filters */
    int32_t left;      /* of the shift, for functions that layers share */
    int32_t patch;     /* place in scratch of a row that is filled up */
} edgec_tile_4x2_layer_t;

/* The rows of a block that its rows 1 to 3 are, where the last one is row `last` of it: of two
 * rows, row 0 three times and row 1; of three, the rows 0, 1, 2 and 2. */
EDGEC_INLINE void edgec_tile_4x2_set_places(int32_t *places, int32_t last, int32_t bytes) {
    places[0] = (last >> 1) * bytes;
    places[1] = (last & 2) * bytes;
    places[2] = last * bytes;
}

/* Rows that do not consist of words, widened as a block whose last one is row `last` of x. */
EDGEC_SEPARATE void edgec_tile_4x2_patches(const int8_t *x, int8_t *patch, edgec_pair_t *widened,
                                           int32_t last, const edgec_tile_4x2_layer_t *layer) {
    int32_t places[EDGEC_TILE_4X2_ROWS - 1];
    edgec_tile_4x2_set_places(places, last, layer->channels);
    for (int32_t t = 0; t < EDGEC_TILE_4X2_ROWS; t++) {
        memcpy(patch, x + ((t == 0) ? 0 : places[t - 1]), (size_t)layer->channels);
        edgec_widen4_any(patch, widened, t, layer->words);
    }
}

/* y [rows, row_bytes] of x [rows, channels]; four rows of x are read before their outputs are
 * written.  `offset`: what functions that share one have in `own`. */
EDGEC_SEPARATE void edgec_tile_4x2_layer(const int8_t *x, int8_t *y, int8_t *scratch,
                                         const int8_t *filters, int32_t offset,
                                         const edgec_tile_4x2_layer_t *layer) {
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const edgec_pair_t *const pairs = widened + 2 * EDGEC_TILE_4X2_ROWS;
    const int32_t channels = layer->channels;
    const int32_t filled = 4 * layer->words - channels;
    int8_t *const patch = scratch + layer->patch;
    edgec_tile_4x2_out_t out;
    out.rows_end = pairs + layer->words * 2 * EDGEC_TILE_4X2_ROWS;
    out.filters_end = filters + layer->stored;
    out.own.offset = offset;
    out.left = layer->left;
    out.bias = NULL;
    out.numbers = NULL;
    if (filled > 0) {
        /* Weights beyond the last one are zero; what they multiply must only be defined. */
        memset(patch + channels, 0, (size_t)filled);
    }
    int32_t last = EDGEC_TILE_4X2_ROWS - 1;
    edgec_tile_4x2_set_places(out.places, last, layer->row_bytes);
    for (int32_t left = layer->rows; left > 0; left -= EDGEC_TILE_4X2_ROWS) {
        if (left < EDGEC_TILE_4X2_ROWS) {
            last = left - 1;
            edgec_tile_4x2_set_places(out.places, last, layer->row_bytes);
        }
        if (filled > 0) {
            edgec_tile_4x2_patches(x, patch, widened, last, layer);
        } else {
            edgec_widen4_block(x, widened, layer->words, (last < 2) ? 0 : channels,
                               last * channels);
        }
        out.y = y;
        layer->outputs(filters, pairs, &out);
        x += EDGEC_TILE_4X2_ROWS * channels;
        y += EDGEC_TILE_4X2_ROWS * layer->row_bytes;
    }
}

#ifdef __cplusplus
}
#endif

#endif
