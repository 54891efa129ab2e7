/* The outputs of five rows and some filters, from the words of their sums. */
EDGEC_SEPARATE void tile_5x2_s8_0_store(const edgec_tile_5x2_t *words, int32_t filters,
    const int32_t *bias, const int32_t *multipliers, int8_t *y, const int8_t *added, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum {
        OUT_CHANNELS = 5,
        SHIFT = 32,
        RESIDUAL_SHIFT = 7,
    };
    const edgec_conv_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    for (int32_t f = 0; f < filters; f++, words += EDGEC_TILE_5X2_WORDS) {
        const int32_t start = bias[f];
        const int32_t multiplier = multipliers[f];
        int32_t sums[EDGEC_TILE_5X2_ROWS] = {start, start, start, start, start};
        edgec_tile_5x2_add(words + 0, sums);
        y[f + 0 * OUT_CHANNELS] = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[0], multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max), added[f + 0 * OUT_CHANNELS], &addition);
        y[f + 1 * OUT_CHANNELS] = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[1], multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max), added[f + 1 * OUT_CHANNELS], &addition);
        y[f + 2 * OUT_CHANNELS] = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[2], multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max), added[f + 2 * OUT_CHANNELS], &addition);
        y[f + 3 * OUT_CHANNELS] = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[3], multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max), added[f + 3 * OUT_CHANNELS], &addition);
        y[f + 4 * OUT_CHANNELS] = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[4], multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max), added[f + 4 * OUT_CHANNELS], &addition);
    }
}

/* Convolution [5, 6, 4] to [5, 6, 5], 3x3 window, stride 1x1, five rows at a time. */
EDGEC_SEPARATE void tile_5x2_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum {
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
        RUN = 12,
        OUT_CHANNELS = 5,
        ROWS = 30,
        DEPTH = 36,
        BATCH = 6,
    };
    const int8_t *const weights = params->weights;
    const int32_t *const bias = params->bias;
    const int32_t *const multiplier = params->multiplier;
    edgec_tile_5x2_t *const packed = (edgec_tile_5x2_t *)(void *)scratch;
    edgec_tile_5x2_t *const words = (edgec_tile_5x2_t *)(void *)(scratch + 432);
    /* The residual may lie where y is written, so that of a block is copied first. */
    int8_t *const block = (int8_t *)(void *)(scratch + 504);
    int8_t *const runs = scratch + 529;
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_5X2_ROWS) {
        int8_t *const out = y + first * OUT_CHANNELS;
        int32_t tops[EDGEC_TILE_5X2_ROWS];
        int32_t lefts[EDGEC_TILE_5X2_ROWS];
        for (int32_t j = 0; j < EDGEC_TILE_5X2_ROWS; j++) {
            tops[j] = oy * STRIDE_H - PAD_TOP;
            lefts[j] = ox * STRIDE_W - PAD_LEFT;
            ox++;
            oy += (ox == OUT_WIDTH) ? 1 : 0;
            ox = (ox == OUT_WIDTH) ? 0 : ox;
        }
        edgec_tile_5x2_t *to = packed;
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int8_t *from[EDGEC_TILE_5X2_ROWS];
            for (int32_t j = 0; j < EDGEC_TILE_5X2_ROWS; j++) {
                const int32_t ix = lefts[j];
                const int32_t iy = tops[j] + ky * DILATION_H;
                int8_t *const padded = runs + j * RUN;
                if (iy < 0 || iy >= HEIGHT) {
                    memset(padded, params->x_zero_point, (size_t)RUN);
                    from[j] = padded;
                    continue;
                }
                const int32_t left = edgec_max_s32(-ix, 0);
                const int32_t right = edgec_min_s32(WIDTH - ix, KERNEL_W);
                if (right - left < KERNEL_W) {
                    memset(padded, params->x_zero_point, (size_t)RUN);
                    memcpy(padded + left * CHANNELS, x + (iy * WIDTH + ix + left) * CHANNELS,
                           (size_t)((right - left) * CHANNELS));
                    from[j] = padded;
                    continue;
                }
                from[j] = x + (iy * WIDTH + ix) * CHANNELS;
            }
            edgec_tile_5x2_pack(from, to, RUN);
            to += EDGEC_TILE_5X2_WORDS * RUN;
        }
        memcpy(block, residual + first * OUT_CHANNELS, (size_t)(EDGEC_TILE_5X2_ROWS * OUT_CHANNELS) * sizeof *block);
        for (int32_t o = 0; o < OUT_CHANNELS; o += BATCH) {
            const int32_t filters = edgec_min_s32(OUT_CHANNELS - o, BATCH);
            const int8_t *const of_batch = weights + o * 36;
            {
                edgec_tile_5x2_t *const sums = words + 0;
                const edgec_tile_5x2_part_t part = {of_batch + 0, packed + 0, packed + 108,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 0, 5};
                edgec_tile_5x2_sums(&part);
            }
            tile_5x2_s8_0_store(words, filters, bias + o, multiplier + o, out + o, block + o, params, add);
        }
    }
}
