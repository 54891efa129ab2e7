/* The outputs of `count` rows and some filters, from the words of their sums. */
EDGEC_SEPARATE void tile_3x4_s8_0_store(const edgec_tile_3x4_t *words, int32_t filters, int32_t count,
    const int32_t *bias, const int32_t *multiplier, int8_t *y, const int8_t *added, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum {
        OUT_CHANNELS = 5,
        SHIFT = 32,
        RESIDUAL_SHIFT = 7,
    };
    const edgec_conv_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    /* Rows beyond the last one repeat it, and so do their outputs. */
    const int32_t second = (count > 1) ? OUT_CHANNELS : 0;
    const int32_t third = (count - 1) * OUT_CHANNELS;
    int8_t *const y1 = y + second;
    int8_t *const y2 = y + third;
    const int8_t *const added0 = added;
    const int8_t *const added1 = added + second;
    const int8_t *const added2 = added + third;
    for (int32_t f = 0; f < filters; f++) {
        int32_t sums[EDGEC_TILE_3X4_ROWS] = {bias[f], bias[f], bias[f]};
        edgec_tile_3x4_add(words + 0 + 2 * f, sums);
        const int8_t code0 = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[0], multiplier[f], SHIFT, p.y_zero_point, p.act_min, p.act_max), added0[f], &addition);
        const int8_t code1 = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[1], multiplier[f], SHIFT, p.y_zero_point, p.act_min, p.act_max), added1[f], &addition);
        const int8_t code2 = (int8_t)edgec_add_s8(edgec_requantize_s8(sums[2], multiplier[f], SHIFT, p.y_zero_point, p.act_min, p.act_max), added2[f], &addition);
        y[f] = code0;
        y1[f] = code1;
        y2[f] = code2;
    }
}

/* Convolution [5, 6, 4] to [5, 6, 5], 3x3 window, stride 1x1, three rows at a time. */
EDGEC_SEPARATE void tile_3x4_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
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
        FILTERS = 4,
        BATCH = 8,
    };
    const int8_t *const weights = params->weights;
    const int32_t *const bias = params->bias;
    const int32_t *const multiplier = params->multiplier;
    edgec_tile_3x4_t *const packed = (edgec_tile_3x4_t *)(void *)scratch;
    edgec_tile_3x4_t *const words = (edgec_tile_3x4_t *)(void *)(scratch + 320);
    /* The residual may lie where y is written, so that of a block is copied first. */
    int8_t *const added = (int8_t *)(void *)(scratch + 384);
    int8_t *const runs = scratch + 399;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(packed + 2 * DEPTH, 0, 32);
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_3X4_ROWS) {
        /* Rows beyond the last one repeat it; their sums are not stored. */
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_TILE_3X4_ROWS);
        int32_t tops[EDGEC_TILE_3X4_ROWS];
        int32_t lefts[EDGEC_TILE_3X4_ROWS];
        for (int32_t j = 0; j < EDGEC_TILE_3X4_ROWS; j++) {
            tops[j] = oy * STRIDE_H - PAD_TOP;
            lefts[j] = ox * STRIDE_W - PAD_LEFT;
            if (first + j < ROWS - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        edgec_tile_3x4_t *to = packed;
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int8_t *from[EDGEC_TILE_3X4_ROWS];
            for (int32_t j = 0; j < EDGEC_TILE_3X4_ROWS; j++) {
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
            edgec_tile_3x4_pack(from[0], from[1], from[2], to, RUN);
            to += 2 * RUN;
        }
        memcpy(added, residual + first * OUT_CHANNELS, (size_t)(count * OUT_CHANNELS) * sizeof *added);
        for (int32_t o = 0; o < OUT_CHANNELS; o += BATCH) {
            const int32_t filters = edgec_min_s32(OUT_CHANNELS - o, BATCH);
            const int8_t *const of_batch = weights + o * 40;
            {
                edgec_tile_3x4_t *const sums = words + 0;
                const edgec_tile_3x4_part_t part = {of_batch + 0, packed + 0, packed + 80,
                    sums, sums + (filters + FILTERS - 1) / FILTERS * (2 * FILTERS), 0};
                edgec_tile_3x4_sums4(&part);
            }
            tile_3x4_s8_0_store(words, filters, count, bias + o, multiplier + o, y + first * OUT_CHANNELS + o, added + o, params, add);
        }
    }
}
