#ifndef EDGEC_DEPTHWISE_M0_SUMS_10
#define EDGEC_DEPTHWISE_M0_SUMS_10
EDGEC_DEPTHWISE_M0(edgec_depthwise_m0_sums_10, 10)
#endif

#ifndef EDGEC_HAS_edgec_depthwise_m0_5bbcc2cb6dcc
#define EDGEC_HAS_edgec_depthwise_m0_5bbcc2cb6dcc
/* All layers that differ in the sizes of images only. */
EDGEC_SEPARATE void edgec_depthwise_m0_5bbcc2cb6dcc(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params, const edgec_depthwise_m0_layer_t *layer)
{
    enum {
        KERNEL_H = 5,
        KERNEL_W = 2,
        STRIDE_H = 1,
        DILATION_H = 2,
        WORDS = 10,
        STEP = 20,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511,
    };
    const int32_t height = layer->height;
    const int32_t channels = layer->channels;
    const int32_t row = layer->width * channels;
    const int32_t out_row = layer->out_width * channels;
    const int32_t out_words = layer->out_width * STEP;
    const int32_t left = layer->pad_left;
    const int32_t inside = layer->inside;
    const int32_t right = layer->right;
    const edgec_rescale16_params_t p = *params;
    const int8_t padding = (int8_t)p.x_zero_point;
    edgec_triple_t *const triples = (edgec_triple_t *)(void *)scratch;
    for (int32_t top = 0; top < layer->out_height; top += EDGEC_DEPTHWISE_M0_ROWS) {
        /* Rows beyond the last one repeat it, and so do their outputs. */
        const int32_t last = edgec_min_s32(layer->out_height - top, EDGEC_DEPTHWISE_M0_ROWS) - 1;
        edgec_triple_rows_t rows[KERNEL_H];
        for (int32_t j = 0; j < EDGEC_DEPTHWISE_M0_ROWS; j++) {
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
            edgec_depthwise_m0_pad(triples, left * KERNEL_H, padding);
            edgec_triple_t *const inner = triples + left * WORDS;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                edgec_depthwise_m0_row(rows + ky, o, inner + 2 * ky, WORDS, inside);
            }
            edgec_depthwise_m0_pad(inner + inside * WORDS, right * KERNEL_H, padding);
            edgec_depthwise_m0_sums_10(p.weights + o * KERNEL_H * KERNEL_W, triples, triples + out_words, STEP);
            const int32_t bias = p.bias[o];
            const int16_t multiplier = p.multiplier[o];
            int8_t *to = y + top * out_row + o;
            for (int32_t i = 0; i < out_words; i += STEP, to += channels) {
                int32_t sums[EDGEC_DEPTHWISE_M0_ROWS] = {bias, bias, bias};
                edgec_depthwise_m0_add(triples + i, sums);
                {
                    const int32_t scaled = edgec_rescale(sums[0], multiplier, PRE_SHIFT, SHIFT);
                    to[0] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
                }
                {
                    const int32_t scaled = edgec_rescale(sums[1], multiplier, PRE_SHIFT, SHIFT);
                    to[second] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
                }
                {
                    const int32_t scaled = edgec_rescale(sums[2], multiplier, PRE_SHIFT, SHIFT);
                    to[third] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
                }
            }
        }
    }
}
#endif

/* Depthwise convolution [9, 7, 3] to [9, 3, 3], 5x2 window, stride 1x2, three rows at a time. */
static void depthwise_s8_m0_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    static const edgec_depthwise_m0_layer_t layer = {
        .height = 9,
        .width = 7,
        .channels = 3,
        .out_height = 9,
        .out_width = 3,
        .pad_top = 4,
        .pad_left = 0,
        .inside = 6,
        .right = 0,
    };
    edgec_depthwise_m0_5bbcc2cb6dcc(x, table, y, scratch, params, &layer);
}
