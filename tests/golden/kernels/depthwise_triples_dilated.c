#ifndef EDGEC_TRIPLES_SUMS_10
#define EDGEC_TRIPLES_SUMS_10
EDGEC_TRIPLES(edgec_triples_sums_10, 10)
#endif

/* Depthwise convolution [9, 7, 3] to [9, 3, 3], 5x2 window, stride 1x2, three rows at a time. */
EDGEC_SEPARATE void depthwise_triples_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        HEIGHT = 9,
        WIDTH = 7,
        CHANNELS = 3,
        OUT_HEIGHT = 9,
        OUT_WIDTH = 3,
        KERNEL_H = 5,
        KERNEL_W = 2,
        STRIDE_H = 1,
        STRIDE_W = 2,
        PAD_TOP = 4,
        PAD_LEFT = 0,
        DILATION_H = 2,
        DILATION_W = 1,
        COLUMNS = 6,
        END = 6,
        WORDS = 10,
        STEP = 20,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511,
    };
    const edgec_rescale16_params_t p = *params;
    const int8_t padding = (int8_t)p.x_zero_point;
    edgec_tile_3x4_t *const triples = (edgec_tile_3x4_t *)(void *)scratch;
    for (int32_t top = 0; top < OUT_HEIGHT; top += EDGEC_TILE_3X4_ROWS) {
        /* Rows beyond the last one repeat it, and so do their outputs. */
        const int32_t last = edgec_min_s32(OUT_HEIGHT - top, EDGEC_TILE_3X4_ROWS) - 1;
        edgec_triple_rows_t rows[KERNEL_H];
        for (int32_t j = 0; j < EDGEC_TILE_3X4_ROWS; j++) {
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = (top + edgec_min_s32(j, last)) * STRIDE_H - PAD_TOP + ky * DILATION_H;
                const int32_t inside = iy >= 0 && iy < HEIGHT;
                rows[ky].from[j] = inside ? x + iy * WIDTH * CHANNELS : &padding;
                rows[ky].step[j] = inside ? CHANNELS : 0;
            }
        }
        const int32_t second = edgec_min_s32(1, last) * OUT_WIDTH * CHANNELS;
        const int32_t third = last * OUT_WIDTH * CHANNELS;
        for (int32_t o = 0; o < CHANNELS; o++) {
            edgec_triples_pad(triples, PAD_LEFT * KERNEL_H, padding);
            edgec_tile_3x4_t *const inner = triples + PAD_LEFT * WORDS;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                edgec_triples_row(rows + ky, o, inner + 2 * ky, WORDS, END - PAD_LEFT);
            }
            edgec_triples_pad(triples + END * WORDS, (COLUMNS - END) * KERNEL_H, padding);
            edgec_triples_sums_10(p.weights + o * KERNEL_H * KERNEL_W, triples, triples + OUT_WIDTH * STEP, STEP);
            const int32_t bias = p.bias[o];
            const int16_t multiplier = p.multiplier[o];
            int8_t *to = y + top * OUT_WIDTH * CHANNELS + o;
            for (int32_t i = 0; i < OUT_WIDTH * STEP; i += STEP, to += CHANNELS) {
                int32_t sums[EDGEC_TILE_3X4_ROWS] = {bias, bias, bias};
                edgec_tile_3x4_add(triples + i, sums);
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
