EDGEC_TILE_4X2_OUT(tile_4x2_s8_0_outputs, 9, 9, 0, 3, 9, 8, 1, EDGEC_TILE_4X2_OUT_BYTE, EDGEC_TILE_4X2_INTERLEAVED)

/* Convolution [5, 6, 4] to [5, 6, 6], 3x3 window, stride 1x1, four rows at a time. */
static void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        ROWS = 30,
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 4,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 6,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        DEPTH = 36,
        UNITS = 6,
        WORDS = 9,
        RUN_WORDS = KERNEL_W * CHANNELS / 4,
        PIXEL_WORDS = CHANNELS / 4,
        ROW_BYTES = 6,
    };
    const edgec_rescale16_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const uint32_t padding = (uint8_t)p.x_zero_point * 0x01010101U;
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_4X2_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_TILE_4X2_ROWS);
        /* Rows beyond the last one repeat it. */
        for (int32_t t = 0; t < EDGEC_TILE_4X2_ROWS; t++) {
            edgec_pair_t *to = widened + 2 * EDGEC_TILE_4X2_ROWS + t;
            int32_t sum = 0;
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t left = edgec_max_s32(-ix, 0);
            const int32_t right = edgec_min_s32(WIDTH - ix, KERNEL_W);
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                if (iy < 0 || iy >= HEIGHT) {
                    sum = edgec_fill4_run(padding, to, RUN_WORDS, 0, sum);
                    to += RUN_WORDS * 2 * EDGEC_TILE_4X2_ROWS;
                    continue;
                }
                sum = edgec_fill4_run(padding, to, left * PIXEL_WORDS, 0, sum);
                sum = edgec_widen4_run(x + (iy * WIDTH + ix + left) * CHANNELS, to + left * PIXEL_WORDS * 2 * EDGEC_TILE_4X2_ROWS,
                                       (right - left) * PIXEL_WORDS, 0, sum);
                sum = edgec_fill4_run(padding, to + right * PIXEL_WORDS * 2 * EDGEC_TILE_4X2_ROWS, (KERNEL_W - right) * PIXEL_WORDS,
                                      0, sum);
                to += RUN_WORDS * 2 * EDGEC_TILE_4X2_ROWS;
            }
            edgec_start4(widened, t, sum);
            if (first + t < ROWS - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        int8_t *to = y + first * UNITS;
        const edgec_pair_t *const pairs = widened + 2 * EDGEC_TILE_4X2_ROWS;
        edgec_tile_4x2_out_t out = {
            .rows_end = pairs + WORDS * 2 * EDGEC_TILE_4X2_ROWS,
            .bias = p.bias,
            .multiplier = p.multiplier,
            .y = (int8_t *)to,
            .places = {edgec_min_s32(1, count - 1) * ROW_BYTES, edgec_min_s32(2, count - 1) * ROW_BYTES,
                     (count - 1) * ROW_BYTES},
            .weights_end = p.weights + 216,
            .extra = NULL,
            .starts = (const edgec_s32_t *)(const void *)widened,
        };
        tile_4x2_s8_0_outputs(p.weights, pairs, &out);
    }
}
