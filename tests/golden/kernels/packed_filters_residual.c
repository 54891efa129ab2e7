/* Convolution [5, 6, 4] to [3, 2, 8], 3x3 window, stride 1x2. */
EDGEC_SEPARATE void packed_filters_s8_0_part(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *patch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum {
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 4,
        OUT_HEIGHT = 3,
        OUT_WIDTH = 2,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 2,
        PAD_TOP = 0,
        PAD_LEFT = 0,
        DILATION_H = 1,
        DILATION_W = 1,
        OUT_CHANNELS = 8,
        DEPTH = 36,
        BLOCK = 4,
        REST = 0,
        SHIFT = 32,
        RESIDUAL_SHIFT = 12,
    };
    const edgec_conv_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                int8_t *const to = patch + ky * (KERNEL_W * CHANNELS);
                memcpy(to, x + (iy * WIDTH + ix) * CHANNELS, (size_t)(KERNEL_W * CHANNELS));
            }
            const int32_t first = (oy * OUT_WIDTH + ox) * OUT_CHANNELS;
            int32_t o = 0;
            const int8_t *const row = patch;
            for (; o < OUT_CHANNELS - REST; o += BLOCK) {
                const int8_t *const w = p.weights + o * DEPTH;
                int32_t sum0 = p.bias[o + 0];
                int32_t sum1 = p.bias[o + 1];
                int32_t sum2 = p.bias[o + 2];
                int32_t sum3 = p.bias[o + 3];
                for (int32_t i = 0; i < DEPTH; i++) {
                    const int32_t value = row[i];
                    sum0 += value * w[0 * DEPTH + i];
                    sum1 += value * w[1 * DEPTH + i];
                    sum2 += value * w[2 * DEPTH + i];
                    sum3 += value * w[3 * DEPTH + i];
                }
                const int32_t acc[4] = {sum0, sum1, sum2, sum3};
                for (int32_t j = 0; j < 4; j++) {
                    const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                             p.y_zero_point, p.act_min, p.act_max);
                    y[first + o + j] = edgec_add_s8(value, residual[first + o + j], &addition);
                }
            }
        }
    }
}

/* Convolution [5, 6, 4] to [3, 2, 8], 3x3 window, stride 1x2, 8 of 17 filters of 2 bits unpacked at a time. */
EDGEC_SEPARATE void packed_filters_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    edgec_conv_params_t part = *params;
    uint32_t *const weights = (uint32_t *)(void *)(scratch + 40);
    part.weights = (const int8_t *)weights;
    enum {
        ROWS = 6,
        FILTERS = 17,
        BATCH = 8,
    };
    const int8_t *codes = params->weights;
    int8_t *const part_y = (int8_t *)(void *)(scratch + 344);
    int8_t *const part_residual = (int8_t *)(void *)(scratch + 392);
    for (int32_t first = 0; first < FILTERS; first += BATCH) {
        const int32_t count = edgec_min_s32(FILTERS - first, BATCH);
        edgec_unpack2(codes, weights, 18, 0U);
        codes += 72;
        for (int32_t row = 0; row < ROWS; row++) {
            memcpy(part_residual + row * BATCH, residual + row * FILTERS + first, (size_t)count * sizeof(int8_t));
        }
        packed_filters_s8_0_part(x, part_residual, part_y, scratch, &part, add);
        for (int32_t row = 0; row < ROWS; row++) {
            memcpy(y + row * FILTERS + first, part_y + row * BATCH, (size_t)count * sizeof(int8_t));
        }
        part.bias += 8;
        part.multiplier += 8;
    }
}
