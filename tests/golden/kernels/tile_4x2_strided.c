EDGEC_TILE_4X2_OFFSET(tile_4x2_s8_0_outputs4, 3, 3, 0, 5, EDGEC_TILE_4X2_INTERLEAVED, 0, 6, 0, 4)

/* Convolution [5, 8, 12] to [3, 4, 6], 1x1 window, stride 2x2, four rows at a time. */
EDGEC_IN_LINES void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    enum {
        ROWS = 12,
        HEIGHT = 5,
        WIDTH = 8,
        CHANNELS = 12,
        OUT_HEIGHT = 3,
        OUT_WIDTH = 4,
        KERNEL_H = 1,
        KERNEL_W = 1,
        STRIDE_H = 2,
        STRIDE_W = 2,
        PAD_TOP = 0,
        PAD_LEFT = 0,
        DILATION_H = 1,
        DILATION_W = 1,
        DEPTH = 12,
        UNITS = 6,
        WORDS = 3,
        ROW_BYTES = 6,
    };
    const edgec_stream_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const edgec_pair_t *const pairs = widened + 2 * EDGEC_TILE_4X2_ROWS;
    edgec_tile_4x2_out_t out = {
        .rows_end = pairs + WORDS * 2 * EDGEC_TILE_4X2_ROWS,
        .y = (int8_t *)y,
        .places = {ROW_BYTES, 2 * ROW_BYTES, (4 - 1) * ROW_BYTES},
        .filters_end = p.weights + 144,
        .starts = (const edgec_s32_t *)(const void *)widened,
    };
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_4X2_ROWS) {
        const int32_t pixel = first / OUT_WIDTH * (STRIDE_H * WIDTH) + first % OUT_WIDTH * STRIDE_W;
        edgec_widen4_block(x + pixel * CHANNELS, widened, WORDS, STRIDE_W * CHANNELS, (EDGEC_TILE_4X2_ROWS - 1) * STRIDE_W * CHANNELS);
        int8_t *to = y + first * UNITS;
        out.y = (int8_t *)to;
        tile_4x2_s8_0_outputs4(p.weights, pairs, &out);
    }
}
