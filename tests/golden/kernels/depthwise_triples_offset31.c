#ifndef EDGEC_HAS_edgec_triples_3355a6907fbe
#define EDGEC_HAS_edgec_triples_3355a6907fbe
/* All layers that differ in the sizes of images only. */
EDGEC_SEPARATE void edgec_triples_3355a6907fbe(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_offset_params_t *params, const edgec_triples_layer_t *layer)
{
    enum {
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 2,
        DILATION_H = 1,
        WORDS = 6,
        STEP = 12,
    };
    const int32_t height = layer->height;
    const int32_t channels = layer->channels;
    const int32_t row = layer->width * channels;
    const int32_t out_row = layer->out_width * channels;
    const int32_t out_words = layer->out_width * STEP;
    const int32_t left = layer->pad_left;
    const int32_t inside = layer->inside;
    const int32_t right = layer->right;
    const edgec_offset_params_t p = *params;
    const int8_t padding = (int8_t)p.x_zero_point;
    edgec_triple_t *const triples = (edgec_triple_t *)(void *)scratch;
    for (int32_t top = 0; top < layer->out_height; top += EDGEC_TRIPLES_ROWS) {
        /* Rows beyond the last one repeat it, and so do their outputs. */
        const int32_t last = edgec_min_s32(layer->out_height - top, EDGEC_TRIPLES_ROWS) - 1;
        edgec_triple_rows_t rows[KERNEL_H];
        for (int32_t j = 0; j < EDGEC_TRIPLES_ROWS; j++) {
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = (top + edgec_min_s32(j, last)) * STRIDE_H - layer->pad_top + ky * DILATION_H;
                const int32_t is_inside = iy >= 0 && iy < height;
                rows[ky].from[j] = is_inside ? x + iy * row : &padding;
                rows[ky].step[j] = is_inside ? channels : 0;
            }
        }
        const int32_t second = edgec_min_s32(1, last) * out_row;
        const int32_t third = last * out_row;
        for (int32_t o = 0; o < channels; o++) {
            edgec_triples_pad(triples, left * KERNEL_H, padding);
            edgec_triple_t *const inner = triples + left * WORDS;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                edgec_triples_row(rows + ky, o, inner + 2 * ky, WORDS, inside);
            }
            edgec_triples_pad(inner + inside * WORDS, right * KERNEL_H, padding);
            edgec_triples_sums_9(p.weights + o * KERNEL_H * KERNEL_W, triples, triples + out_words, STEP);
            const int32_t bias = p.bias[o];
            const int32_t multiplier = p.multiplier[o];
            const int32_t offset = p.offset[o];
            int8_t *to = y + top * out_row + o;
            for (int32_t i = 0; i < out_words; i += STEP, to += channels) {
                int32_t sums[EDGEC_TRIPLES_ROWS] = {bias, bias, bias};
                edgec_triples_add(triples + i, sums);
                to[0] = edgec_requantize_offset_s8(sums[0], multiplier, offset, 5, INT8_MIN, INT8_MAX);
                to[second] = edgec_requantize_offset_s8(sums[1], multiplier, offset, 5, INT8_MIN, INT8_MAX);
                to[third] = edgec_requantize_offset_s8(sums[2], multiplier, offset, 5, INT8_MIN, INT8_MAX);
            }
        }
    }
}
#endif

/* Depthwise convolution [9, 9, 8] to [5, 5, 8], 3x3 window, stride 2x2, three rows at a time. */
static void depthwise_triples_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_offset_params_t *params)
{
    static const edgec_triples_layer_t layer = {
        .height = 9,
        .width = 9,
        .channels = 8,
        .out_height = 5,
        .out_width = 5,
        .pad_top = 1,
        .pad_left = 1,
        .inside = 9,
        .right = 1,
    };
    edgec_triples_3355a6907fbe(x, y, scratch, params, &layer);
}
