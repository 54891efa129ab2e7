/* Pooled convolution [5, 6, 4] to [5, 6, 8], 3x3 window, stride 1x1, 8 filters decoded at a time, three rows at a time. */
EDGEC_SEPARATE void pooled_decode_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params)
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
        OUT_CHANNELS = 8,
        ROWS = 30,
        GROUP = 4,
        INDEX_BITS = 6,
        WORDS = 10,
        RUN_WORDS = KERNEL_W * CHANNELS / 4,
        BATCH = 8,
        SHIFT = 32,
    };
    const int8_t *const pool = (const int8_t *)params->table;
    edgec_pool_indices_t indices = edgec_pool_indices(params->indices);
    int8_t *const decoded = scratch + 240;
    /* No vector writes the weights after a filter's last one and of a filter without partner. */
    memset(decoded, 0, 320);
    for (int32_t start = 0; start < OUT_CHANNELS; start += BATCH) {
        const int32_t end = edgec_min_s32(OUT_CHANNELS - start, BATCH);
        for (int32_t o = 0; o < end; o++) {
            int8_t *weight = decoded + (o / 2) * (WORDS * 8) + (o % 2) * 4;
            for (int32_t tap = 0; tap < KERNEL_H * KERNEL_W; tap++) {
                for (int32_t v = 0; v < 1; v++) {
                    {
                        const int8_t *const vector = pool + edgec_next_index(&indices, INDEX_BITS) * GROUP;
                        memcpy(weight + 0, vector + 0, 4);
                        weight += 8;
                    }
                }
            }
        }
        const edgec_conv_params_t p = {
            .weights = decoded,
            .bias = params->bias + start,
            .multiplier = params->multiplier + start,
            .x_zero_point = params->x_zero_point,
            .y_zero_point = params->y_zero_point,
            .act_min = params->act_min,
            .act_max = params->act_max,
        };
        edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
        const uint32_t padding = edgec_sxtb16((uint8_t)p.x_zero_point * 0x01010101U);
        /* Weights beyond the last one are zero; what they multiply must only be defined. */
        memset(widened + (WORDS - 1) * EDGEC_DENSE_3X2_ROWS * 2, 0, EDGEC_DENSE_3X2_ROWS * 8);
        int32_t oy = 0;
        int32_t ox = 0;
        for (int32_t first = 0; first < ROWS; first += EDGEC_DENSE_3X2_ROWS) {
            const int32_t count = edgec_min_s32(ROWS - first, EDGEC_DENSE_3X2_ROWS);
            for (int32_t j = 0; j < EDGEC_DENSE_3X2_ROWS; j++) {
                edgec_pair_t *to = widened + 2 * j;
                const int32_t ix = ox * STRIDE_W - PAD_LEFT;
                for (int32_t ky = 0; ky < KERNEL_H; ky++, to += RUN_WORDS * EDGEC_DENSE_3X2_ROWS * 2) {
                    const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                    if (iy < 0 || iy >= HEIGHT) {
                        edgec_fill3(padding, to, RUN_WORDS);
                        continue;
                    }
                    const int32_t left = edgec_max_s32(-ix, 0);
                    const int32_t right = edgec_min_s32(WIDTH - ix, KERNEL_W);
                    const int32_t words = CHANNELS / 4;
                    edgec_fill3(padding, to, left * words);
                    edgec_widen3(x + (iy * WIDTH + ix + left) * CHANNELS, to + left * words * EDGEC_DENSE_3X2_ROWS * 2, (right - left) * words);
                    edgec_fill3(padding, to + right * words * EDGEC_DENSE_3X2_ROWS * 2,
                                (KERNEL_W - right) * words);
                }
                /* Rows beyond the last one repeat it; their sums are not stored. */
                if (first + j < ROWS - 1) {
                    ox++;
                    oy += (ox == OUT_WIDTH) ? 1 : 0;
                    ox = (ox == OUT_WIDTH) ? 0 : ox;
                }
            }
            const int8_t *weights = p.weights;
            for (int32_t o = 0; o < end; o += 2, weights += WORDS * 8) {
                const int32_t second = p.bias[o + 1];
                const int32_t filters = 2;
                int32_t sums[2 * EDGEC_DENSE_3X2_ROWS];
                for (int32_t j = 0; j < EDGEC_DENSE_3X2_ROWS; j++) {
                    sums[2 * j] = p.bias[o];
                    sums[2 * j + 1] = second;
                }
                edgec_dot_3x2(weights, widened, sums, weights + WORDS * 8);
                for (int32_t j = 0; j < count; j++) {
                    for (int32_t f = 0; f < filters; f++) {
                        const int32_t at = (first + j) * OUT_CHANNELS + start + o + f;
                        const int8_t value = edgec_requantize_s8(sums[2 * j + f], p.multiplier[o + f], SHIFT,
                                                                 p.y_zero_point, p.act_min, p.act_max);
                        y[at] = value;
                    }
                }
            }
        }
    }
}
