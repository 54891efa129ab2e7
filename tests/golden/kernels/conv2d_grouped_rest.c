/* Convolution [5, 6, 4] to [3, 2, 10], 3x3 window, stride 1x2, 2 groups. */
EDGEC_SEPARATE void conv2d_s8_0(const int8_t *x, int8_t *y, int8_t *patch, const edgec_conv_params_t *params)
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
        OUT_CHANNELS = 10,
        GROUPS = 2,
        GROUP_CHANNELS = 2,
        GROUP_FILTERS = 5,
        DEPTH = 18,
        BLOCK = 4,
        REST = 1,
        SHIFT = 34,
    };
    const edgec_conv_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            int32_t tap = 0;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                for (int32_t kx = 0; kx < KERNEL_W; kx++, tap++) {
                    const int32_t ix = ox * STRIDE_W - PAD_LEFT + kx * DILATION_W;
                    const bool inside = iy >= 0 && iy < HEIGHT && ix >= 0 && ix < WIDTH;
                    for (int32_t g = 0; g < GROUPS; g++) {
                        int8_t *const to = patch + g * DEPTH + tap * GROUP_CHANNELS;
                        if (inside) {
                            memcpy(to, x + (iy * WIDTH + ix) * CHANNELS + g * GROUP_CHANNELS,
                                   (size_t)GROUP_CHANNELS);
                        } else {
                            memset(to, p.x_zero_point, (size_t)GROUP_CHANNELS);
                        }
                    }
                }
            }
            const int32_t first = (oy * OUT_WIDTH + ox) * OUT_CHANNELS;
            int32_t o = 0;
            for (const int8_t *row = patch; row < patch + GROUPS * DEPTH; row += DEPTH) {
                const int32_t end = o + GROUP_FILTERS - REST;
                for (; o < end; o += BLOCK) {
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
                {
                    const int8_t *const w = p.weights + o * DEPTH;
                    int32_t sum0 = p.bias[o + 0];
                    for (int32_t i = 0; i < DEPTH; i++) {
                        const int32_t value = row[i];
                        sum0 += value * w[0 * DEPTH + i];
                    }
                    const int32_t acc[1] = {sum0};
                    for (int32_t j = 0; j < 1; j++) {
                        const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                                 p.y_zero_point, p.act_min, p.act_max);
                        y[first + o + j] = value;
                    }
                    o += REST;
                }
            }
        }
    }
}
