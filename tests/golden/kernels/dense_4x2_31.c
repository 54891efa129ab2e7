EDGEC_DENSE_4X2_HIGH(dense_4x2_s8_dsp_s8_0_outputs4, 9, 3, 0, 32, EDGEC_DENSE_4X2_INTERLEAVED, 0, 6, 0, 4)

EDGEC_DENSE_4X2_HIGH(dense_4x2_s8_dsp_s8_0_outputs3, 9, 3, 0, 32, EDGEC_DENSE_4X2_INTERLEAVED, 0, 6, 0, 3)

/* Convolution [5, 6, 4] to [5, 6, 6], 3x3 window, stride 1x1, four or three rows at a time. */
EDGEC_IN_LINES void dense_4x2_s8_dsp_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_residual_params_t *params, const edgec_add_params_t *add)
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
        RESIDUAL_SHIFT = 9,
    };
    const edgec_residual_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const edgec_pair_t *const pairs = widened + 2 * EDGEC_DENSE_4X2_ROWS;
    /* The residual may lie where y is written, so it is added in the order of memory. */
    int8_t *const codes = scratch + 328;
    edgec_dense_4x2_out_t out = {
        .rows_end = pairs + WORDS * 2 * EDGEC_DENSE_4X2_ROWS,
        .y = (int8_t *)y,
        .places = {ROW_BYTES, 2 * ROW_BYTES, (4 - 1) * ROW_BYTES},
        .filters_end = p.weights + 264,
        .own = {.offset = edgec_dense_4x2_offset(p.y_zero_point, 32)},
        .starts = (const edgec_s32_t *)(const void *)widened,
    };
    const uint32_t padding = (uint8_t)p.x_zero_point * 0x01010101U;
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += (first < 24) ? EDGEC_DENSE_4X2_ROWS : EDGEC_DENSE_4X2_FEWER) {
        const int32_t tall = (first < 24) ? EDGEC_DENSE_4X2_ROWS : EDGEC_DENSE_4X2_FEWER;
        const int32_t count = tall;
        /* Rows beyond the last one repeat it. */
        for (int32_t t = 0; t < tall; t++) {
            const int32_t place = (t < tall - 1) ? t : EDGEC_DENSE_4X2_ROWS - 1;
            edgec_pair_t *to = widened + 2 * EDGEC_DENSE_4X2_ROWS + place;
            int32_t start = 0;
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t left = edgec_max_s32(-ix, 0);
            const int32_t right = edgec_min_s32(WIDTH - ix, KERNEL_W);
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                if (iy < 0 || iy >= HEIGHT) {
                    start = edgec_fill4_words(padding, to, RUN_WORDS, 1, start);
                    to += RUN_WORDS * 2 * EDGEC_DENSE_4X2_ROWS;
                    continue;
                }
                start = edgec_fill4_words(padding, to, left * PIXEL_WORDS, 1, start);
                start = edgec_widen4_words(x + (iy * WIDTH + ix + left) * CHANNELS, to + left * PIXEL_WORDS * 2 * EDGEC_DENSE_4X2_ROWS,
                                         (right - left) * PIXEL_WORDS, 1, start);
                start = edgec_fill4_words(padding, to + right * PIXEL_WORDS * 2 * EDGEC_DENSE_4X2_ROWS, (KERNEL_W - right) * PIXEL_WORDS,
                                        1, start);
                to += RUN_WORDS * 2 * EDGEC_DENSE_4X2_ROWS;
            }
            edgec_start4(widened, place, start);
            if (first + t < ROWS - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        int8_t *to = codes;
        out.y = (int8_t *)to;
        out.places[0] = (edgec_min_s32(1, count - 1)) * ROW_BYTES;
        out.places[1] = (edgec_min_s32(2, count - 1)) * ROW_BYTES;
        out.places[2] = (count - 1) * ROW_BYTES;
        if (first < 24) {
            dense_4x2_s8_dsp_s8_0_outputs4(p.weights, pairs, &out);
        } else {
            dense_4x2_s8_dsp_s8_0_outputs3(p.weights, pairs, &out);
        }
        const int32_t at = first * UNITS;
        edgec_add_run_s8(codes, residual + at, y + at, count * UNITS, &addition);
    }
}
