EDGEC_TILE_4X2_OFFSET(line_4x2_s8_0_outputs4, 7, 3, 1, 5, 56, 0, 6, 0, 4)

/* The windows of `lines` output rows from oy on. */
EDGEC_SEPARATE void line_4x2_s8_0_line(const int8_t *x, int32_t padding, int8_t *scratch, int32_t oy, int32_t lines)
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
        INSIDE = 18,
        LEFT = 3,
        ROW = 24,
        PIXEL = STRIDE_W * CHANNELS,
        RUN_WORDS = 2,
        REST = 1,
        REST_WORDS = 1,
    };
    edgec_pair_t *line = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *starts = (edgec_s32_t *)(void *)(scratch + 672);
    int8_t *const rows = scratch + 720;
    int8_t *const rest = scratch + 816;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(rest + KERNEL_H * REST, 0, 4 * REST_WORDS - KERNEL_H * REST);
    const int32_t top = oy * STRIDE_H - PAD_TOP;
    for (int32_t i = 0; i < (lines - 1) * STRIDE_H + 3; i++) {
        int8_t *const to = rows + i * ROW;
        if (top + i < 0 || top + i >= HEIGHT) {
            memset(to, padding, ROW);
            continue;
        }
        memset(to, padding, LEFT);
        memset(to + LEFT + INSIDE, padding, ROW - LEFT - INSIDE);
        memcpy(to + LEFT, x + (top + i) * (WIDTH * CHANNELS), INSIDE);
    }
    for (int32_t i = 0; i < lines; i++) {
        const int8_t *from = rows + i * STRIDE_H * ROW;
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++, from += PIXEL) {
            int32_t start = 0;
            start = edgec_line_run(from + 0 * DILATION_H * ROW, line, RUN_WORDS, 0, start);
            line += 2 * RUN_WORDS;
            memcpy(rest + 0 * REST, from + 0 * DILATION_H * ROW + 4 * RUN_WORDS, REST);
            start = edgec_line_run(from + 1 * DILATION_H * ROW, line, RUN_WORDS, 0, start);
            line += 2 * RUN_WORDS;
            memcpy(rest + 1 * REST, from + 1 * DILATION_H * ROW + 4 * RUN_WORDS, REST);
            start = edgec_line_run(from + 2 * DILATION_H * ROW, line, RUN_WORDS, 0, start);
            line += 2 * RUN_WORDS;
            memcpy(rest + 2 * REST, from + 2 * DILATION_H * ROW + 4 * RUN_WORDS, REST);
            start = edgec_line_run(rest, line, REST_WORDS, 0, start);
            line += 2 * REST_WORDS;
            *starts++ = start;
        }
    }
}

/* Convolution [6, 6, 3] to [4, 6, 6], 3x3 window, stride 1x1, a line at a time. */
static void line_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    enum {
        OUT_HEIGHT = 4,
        OUT_WIDTH = 6,
        LINES = 2,
        DEPTH = 28,
        UNITS = 6,
        WORDS = 7,
        ROW_BYTES = 6,
        PIXEL_WORDS = 14,
    };
    const edgec_stream_params_t p = *params;
    edgec_pair_t *const line = (edgec_pair_t *)(void *)scratch;
    const edgec_s32_t *const starts = (const edgec_s32_t *)(const void *)(scratch + 672);
    edgec_tile_4x2_out_t out = {
        .rows_end = line + WORDS * 2,
        .y = (int8_t *)y,
        .places = {ROW_BYTES, 2 * ROW_BYTES, (4 - 1) * ROW_BYTES},
        .filters_end = p.weights + 240,
        .starts = starts,
    };
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy += LINES) {
        const int32_t lines = edgec_min_s32(OUT_HEIGHT - oy, LINES);
        line_4x2_s8_0_line(x, p.x_zero_point, scratch, oy, lines);
        const int32_t pixels = lines * OUT_WIDTH;
        for (int32_t next = 0; next < pixels; next += EDGEC_TILE_4X2_ROWS) {
            /* The last block may hold pixels that are done already. */
            const int32_t first = edgec_min_s32(next, pixels - EDGEC_TILE_4X2_ROWS);
            const edgec_pair_t *const rows = line + first * PIXEL_WORDS;
            int8_t *const to = y + (oy * OUT_WIDTH + first) * UNITS;
            out.y = (int8_t *)to;
            out.rows_end = rows + WORDS * 2;
            out.starts = starts + first;
            line_4x2_s8_0_outputs4(p.weights, rows, &out);
        }
    }
}
