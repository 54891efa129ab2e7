EDGEC_DENSE_4X2_HIGH(conv_4x2_s8_dsp_s8_0_outputs4, 9, 4, 0, 32, 24, 0, 6, 0, 4)

/* Widened input of the output row oy. */
EDGEC_SEPARATE void conv_4x2_s8_dsp_s8_0_line(const int8_t *x, uint32_t padding, int8_t *scratch, int32_t oy)
{
    enum {
        HEIGHT = 6,
        WIDTH = 6,
        CHANNELS = 4,
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
        COLUMNS = 8,
        COLUMN_WORDS = 6,
        PIXEL_WORDS = CHANNELS / 4,
    };
    edgec_pair_t *const line = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const starts = (edgec_s32_t *)(void *)(scratch + 192);
    edgec_s32_t *const totals = (edgec_s32_t *)(void *)(scratch + 216);
    const edgec_line_row_t row = {COLUMNS, PAD_LEFT, 7, PIXEL_WORDS, COLUMN_WORDS};
    memset(totals, 0, (size_t)COLUMNS * sizeof *totals);
    for (int32_t ky = 0; ky < KERNEL_H; ky++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
        edgec_pair_t *const to = line + 2 * PIXEL_WORDS * ky;
        edgec_line_row(x + iy * WIDTH * CHANNELS, padding, to, totals, row, 0);
    }
    edgec_line_starts(totals, starts, OUT_WIDTH, KERNEL_W, STRIDE_W);
}

/* Convolution [6, 6, 4] to [4, 6, 6], 3x3 window, stride 1x1, a line at a time. */
static void conv_4x2_s8_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_residual_params_t *params)
{
    enum {
        OUT_HEIGHT = 4,
        OUT_WIDTH = 6,
        LINES = 1,
        DEPTH = 36,
        UNITS = 6,
        WORDS = 9,
        ROW_BYTES = 6,
        PIXEL_WORDS = 6,
    };
    const edgec_residual_params_t p = *params;
    edgec_pair_t *const line = (edgec_pair_t *)(void *)scratch;
    const edgec_s32_t *const starts = (const edgec_s32_t *)(const void *)(scratch + 192);
    const uint32_t padding = (uint8_t)p.x_zero_point * 0x01010101U;
    edgec_dense_4x2_out_t out = {
        .rows_end = line + WORDS * 2,
        .y = (int8_t *)y,
        .places = {ROW_BYTES, 2 * ROW_BYTES, (4 - 1) * ROW_BYTES},
        .filters_end = p.weights + 264,
        .own = {.offset = edgec_dense_4x2_offset(p.y_zero_point, 32)},
        .starts = starts,
    };
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy += LINES) {
        conv_4x2_s8_dsp_s8_0_line(x, padding, scratch, oy);
        const int32_t pixels = OUT_WIDTH;
        for (int32_t next = 0; next < pixels; next += EDGEC_DENSE_4X2_ROWS) {
            /* The last block may hold pixels that are done already. */
            const int32_t first = edgec_min_s32(next, pixels - EDGEC_DENSE_4X2_ROWS);
            const edgec_pair_t *const rows = line + first * PIXEL_WORDS;
            int8_t *const to = y + (oy * OUT_WIDTH + first) * UNITS;
            out.y = (int8_t *)to;
            out.rows_end = rows + WORDS * 2;
            out.starts = starts + first;
            conv_4x2_s8_dsp_s8_0_outputs4(p.weights, rows, &out);
        }
    }
}
