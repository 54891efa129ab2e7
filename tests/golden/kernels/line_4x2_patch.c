EDGEC_TILE_4X2_OFFSET(line_4x2_s8_0_outputs, 7, 3, 1, 5, 56, 0)

/* The windows of output row oy. */
EDGEC_SEPARATE void line_4x2_s8_0_line(const int8_t *x, const edgec_exact_params_t *params, int8_t *scratch, int32_t oy)
{
    enum {
        HEIGHT = 6,
        WIDTH = 6,
        CHANNELS = 3,
        OUT_HEIGHT = 4,
        OUT_WIDTH = 6,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 0,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        WORDS = 7,
    };
    const edgec_exact_params_t p = *params;
    edgec_pair_t *line = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const starts = (edgec_s32_t *)(void *)(scratch + 336);
    int8_t *const patch = scratch + 360;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(patch + 27, 0, 1);
    for (int32_t ox = 0; ox < OUT_WIDTH; ox++, line += 2 * WORDS) {
        const int32_t ix = ox * STRIDE_W - PAD_LEFT;
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
            int8_t *const to = patch + ky * (KERNEL_W * CHANNELS);
            if (ix < 0 || ix > WIDTH - KERNEL_W) {
                for (int32_t kx = 0; kx < KERNEL_W; kx++) {
                    if (ix + kx >= 0 && ix + kx < WIDTH) {
                        memcpy(to + kx * CHANNELS, x + (iy * WIDTH + ix + kx) * CHANNELS, (size_t)CHANNELS);
                    } else {
                        memset(to + kx * CHANNELS, p.x_zero_point, (size_t)CHANNELS);
                    }
                }
                continue;
            }
            memcpy(to, x + (iy * WIDTH + ix) * CHANNELS, (size_t)(KERNEL_W * CHANNELS));
        }
        starts[ox] = -128 * edgec_line_run(patch, line, WORDS, 0, 0);
    }
}

/* Convolution [6, 6, 3] to [4, 6, 6], 3x3 window, stride 1x1, a line at a time. */
static void line_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_exact_params_t *params)
{
    enum {
        OUT_HEIGHT = 4,
        OUT_WIDTH = 6,
        LAST_BLOCK = 2,
        DEPTH = 28,
        UNITS = 6,
        WORDS = 7,
        ROW_BYTES = 6,
        PIXEL_WORDS = 14,
    };
    const edgec_exact_params_t p = *params;
    edgec_pair_t *const line = (edgec_pair_t *)(void *)scratch;
    const edgec_s32_t *const starts = (const edgec_s32_t *)(const void *)(scratch + 336);
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        line_4x2_s8_0_line(x, params, scratch, oy);
        for (int32_t next = 0; next < OUT_WIDTH; next += EDGEC_TILE_4X2_ROWS) {
            /* The last block may hold pixels that are done already. */
            const int32_t ox = edgec_min_s32(next, LAST_BLOCK);
            const edgec_pair_t *const rows = line + ox * PIXEL_WORDS;
            int8_t *const to = y + (oy * OUT_WIDTH + ox) * UNITS;
            edgec_tile_4x2_exact_t out = {
                .rows_end = rows + WORDS * 2,
                .bias = p.bias,
                .numbers = p.numbers,
                .y = (int8_t *)to,
                .places = {edgec_min_s32(1, EDGEC_TILE_4X2_ROWS - 1) * ROW_BYTES, edgec_min_s32(2, EDGEC_TILE_4X2_ROWS - 1) * ROW_BYTES,
                         (EDGEC_TILE_4X2_ROWS - 1) * ROW_BYTES},
                .weights_end = p.weights + 168,
                .unused = 0,
                .starts = starts + ox,
            };
            line_4x2_s8_0_outputs(p.weights, rows, &out);
        }
    }
}
