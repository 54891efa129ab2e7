/* Pooled convolution [5, 5, 3] to [3, 3, 10], 2x2 window, stride 2x2, sums of 2 vectors, 4 filters decoded at a time. */
EDGEC_SEPARATE void pooled_decode_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 5,
        CHANNELS = 3,
        OUT_HEIGHT = 3,
        OUT_WIDTH = 3,
        KERNEL_H = 2,
        KERNEL_W = 2,
        STRIDE_H = 2,
        STRIDE_W = 2,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        OUT_CHANNELS = 10,
        GROUP = 8,
        FULL = 0,
        LAST = 3,
        INDEX_BITS = 6,
        DEPTH = 12,
        BATCH = 4,
        BLOCK = 4,
        REST = 2,
        SHIFT = 32,
    };
    const int8_t *const pool = (const int8_t *)params->table;
    edgec_pool_indices_t indices = edgec_pool_indices(params->indices);
    int8_t *const filters = scratch + 0;
    int8_t *const patch = scratch + 48;
    for (int32_t start = 0; start < OUT_CHANNELS; start += BATCH) {
        const int32_t end = (OUT_CHANNELS - start < BATCH) ? OUT_CHANNELS - start : BATCH;
        int8_t *weight = filters;
        for (int32_t n = 0; n < end * (KERNEL_H * KERNEL_W); n++) {
            for (int32_t v = 0; v < FULL; v++) {
                memcpy(weight, pool + edgec_next_index(&indices, INDEX_BITS) * GROUP, GROUP);
                for (int32_t term = 1; term < 2; term++) {
                    edgec_pool_add_weights(weight, pool + edgec_next_index(&indices, INDEX_BITS) * GROUP, GROUP);
                }
                weight += GROUP;
            }
            memcpy(weight, pool + edgec_next_index(&indices, INDEX_BITS) * GROUP, LAST);
            for (int32_t term = 1; term < 2; term++) {
                edgec_pool_add_weights(weight, pool + edgec_next_index(&indices, INDEX_BITS) * GROUP, LAST);
            }
            weight += LAST;
        }
        const edgec_conv_params_t p = {
            .weights = filters,
            .bias = params->bias + start,
            .multiplier = params->multiplier + start,
            .x_zero_point = params->x_zero_point,
            .y_zero_point = params->y_zero_point,
            .act_min = params->act_min,
            .act_max = params->act_max,
        };
        for (int32_t pixel = 0; pixel < OUT_HEIGHT * OUT_WIDTH; pixel++) {
            const int32_t oy = pixel / OUT_WIDTH;
            const int32_t ox = pixel % OUT_WIDTH;
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                int8_t *const to = patch + ky * (KERNEL_W * CHANNELS);
                if (iy < 0 || iy >= HEIGHT) {
                    memset(to, p.x_zero_point, (size_t)(KERNEL_W * CHANNELS));
                    continue;
                }
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
            const int8_t *const row = patch;
            const int32_t first = pixel * OUT_CHANNELS + start;
            int32_t o = 0;
            for (; o <= end - BLOCK; o += BLOCK) {
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
                    y[first + o + j] = value;
                }
            }
            if (o < end) {
                const int8_t *const w = p.weights + o * DEPTH;
                int32_t sum0 = p.bias[o + 0];
                int32_t sum1 = p.bias[o + 1];
                for (int32_t i = 0; i < DEPTH; i++) {
                    const int32_t value = row[i];
                    sum0 += value * w[0 * DEPTH + i];
                    sum1 += value * w[1 * DEPTH + i];
                }
                const int32_t acc[2] = {sum0, sum1};
                for (int32_t j = 0; j < 2; j++) {
                    const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                             p.y_zero_point, p.act_min, p.act_max);
                    y[first + o + j] = value;
                }
            }
        }
    }
}
