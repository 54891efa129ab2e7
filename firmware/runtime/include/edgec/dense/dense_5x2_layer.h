/* Dense layers on dense_5x2_s8_m0.h with functions that layers share: matrix products, and the
 * stores of their outputs. */
#ifndef EDGEC_DENSE_DENSE_5X2_LAYER_H
#define EDGEC_DENSE_DENSE_5X2_LAYER_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"
#include "edgec/dense/dense_5x2_s8_m0.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of a layer's sums and outputs. */
typedef struct edgec_dense_5x2_outputs {
    int32_t channels;   /* of a row of y */
    int32_t parts;      /* of a sum */
    int32_t part_words; /* words of sums from a part to the next */
} edgec_dense_5x2_outputs_t;

/* Stores the outputs of five rows and some filters, the first of which is `first`, at `y`. */
typedef void edgec_dense_5x2_store_t(const edgec_dense_5x2_t *words, int32_t filters, int32_t first,
                                     int8_t *y, const edgec_conv_params_t *params,
                                     const edgec_dense_5x2_outputs_t *outputs);

/* Defines NAME, an edgec_dense_5x2_store_t.  PARTS: of a sum, where all layers have as many; 0: the
 * run says it.  CODE, a macro: the code of a sum, by `multiplier` and the argument struct `p`. */
#define EDGEC_DENSE_5X2_STORE(NAME, PARTS, CODE)                                                   \
    EDGEC_SEPARATE void NAME(const edgec_dense_5x2_t *words, int32_t filters, int32_t first,       \
                             int8_t *y, const edgec_conv_params_t *params,                         \
                             const edgec_dense_5x2_outputs_t *outputs) {                           \
        const edgec_conv_params_t p = *params;                                                     \
        const int32_t *bias = p.bias + first;                                                      \
        const int32_t *multipliers = p.multiplier + first;                                         \
        const edgec_dense_5x2_t *const end = words + EDGEC_DENSE_5X2_WORDS * filters;              \
        const int32_t row = outputs->channels;                                                     \
        const int32_t part = outputs->part_words;                                                  \
        const int32_t parts_end = ((PARTS) != 0 ? (PARTS) : outputs->parts) * part;                \
        for (; words < end; words += EDGEC_DENSE_5X2_WORDS) {                                      \
            const int32_t start = *bias++;                                                         \
            const int32_t multiplier = *multipliers++;                                             \
            int32_t sums[EDGEC_DENSE_5X2_ROWS] = {start, start, start, start, start};              \
            edgec_dense_5x2_add(words, sums);                                                      \
            for (int32_t i = part; (PARTS) != 1 && i < parts_end; i += part) {                     \
                edgec_dense_5x2_add(words + i, sums);                                              \
            }                                                                                      \
            y[0] = CODE(sums[0]);                                                                  \
            y[row] = CODE(sums[1]);                                                                \
            y[2 * row] = CODE(sums[2]);                                                            \
            y[3 * row] = CODE(sums[3]);                                                            \
            y[4 * row] = CODE(sums[4]);                                                            \
            y++;                                                                                   \
        }                                                                                          \
    }

/* Sizes of a matrix product. */
typedef struct edgec_dense_5x2_layer {
    edgec_dense_5x2_store_t *store;
    edgec_dense_5x2_outputs_t outputs;
    int32_t rows;
    int32_t depth;
    int32_t padded_depth; /* weights of a filter as stored */
    int32_t segment;      /* weights of a filter in a part */
    int32_t batch;        /* filters whose sums wait together, an even number */
    int32_t words_at;     /* place of their words in scratch */
    int32_t block_at;     /* place of the outputs of fewer rows than five */
} edgec_dense_5x2_layer_t;

/* The words of sums of a block with a batch of filters. */
EDGEC_INLINE void edgec_dense_5x2_parts(const int8_t *weights, const edgec_dense_5x2_t *packed,
                                        edgec_dense_5x2_t *words, int32_t filters, int32_t count,
                                        const edgec_dense_5x2_layer_t *layer) {
    const int32_t used = (filters + 1) / 2 * (2 * EDGEC_DENSE_5X2_WORDS);
    for (int32_t first = 0; first < layer->padded_depth; first += layer->segment) {
        const int32_t depth = edgec_min_s32(layer->segment, layer->padded_depth - first);
        const edgec_dense_5x2_part_t part = {weights + 2 * first,
                                             packed + EDGEC_DENSE_5X2_WORDS * first,
                                             packed + EDGEC_DENSE_5X2_WORDS * (first + depth),
                                             words,
                                             words + used,
                                             2 * (layer->padded_depth - depth),
                                             (depth == 1) ? 8 : (1 - depth) & 7};
        if (count <= 3) {
            edgec_dense_5x2_sums3(&part);
        } else {
            edgec_dense_5x2_sums(&part);
        }
        words += layer->outputs.part_words;
    }
}

/* y [rows, channels] of x [rows, depth]; the rows of a block are read before the first of them is
 * written. */
EDGEC_SEPARATE void edgec_dense_5x2_layer(const int8_t *x, int8_t *y, int8_t *scratch,
                                          const edgec_conv_params_t *params,
                                          const edgec_dense_5x2_layer_t *layer) {
    edgec_dense_5x2_t *const packed = (edgec_dense_5x2_t *)(void *)scratch;
    edgec_dense_5x2_t *const words = (edgec_dense_5x2_t *)(void *)(scratch + layer->words_at);
    int8_t *const block = scratch + layer->block_at;
    const int32_t channels = layer->outputs.channels;
    const int32_t depth = layer->depth;
    /* Weights beyond the last one are zero; their operands must only be defined. */
    memset(packed + EDGEC_DENSE_5X2_WORDS * depth, 0,
           (size_t)(EDGEC_DENSE_5X2_WORDS * (layer->padded_depth - depth)) * sizeof *packed);
    int32_t count;
    for (int32_t left = layer->rows; left > 0; left -= count) {
        /* Rows beyond the last one repeat it; their outputs are not kept. */
        count = edgec_dense_5x2_count(left);
        int8_t *const out = (count < EDGEC_DENSE_5X2_ROWS) ? block : y;
        const int8_t *from[EDGEC_DENSE_5X2_ROWS];
        for (int32_t j = 0; j < EDGEC_DENSE_5X2_ROWS; j++) {
            from[j] = x + edgec_min_s32(j, count - 1) * depth;
        }
        edgec_dense_5x2_pack(from, packed, depth);
        for (int32_t o = 0; o < channels; o += layer->batch) {
            const int32_t filters = edgec_min_s32(channels - o, layer->batch);
            edgec_dense_5x2_parts(params->weights + o * layer->padded_depth, packed, words, filters,
                                  count, layer);
            layer->store(words, filters, o, out + o, params, &layer->outputs);
        }
        if (count < EDGEC_DENSE_5X2_ROWS) {
            memcpy(y, block, (size_t)(count * channels));
        }
        x += count * depth;
        y += count * channels;
    }
}

#ifdef __cplusplus
}
#endif

#endif
