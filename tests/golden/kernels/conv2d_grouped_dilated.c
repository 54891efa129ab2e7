/* Convolution [9, 9, 4] to [9, 9, 6], 3x3 window, stride 1x1, dilation 2x2, 2 groups. */
EDGEC_SEPARATE void conv2d_s8_0(const int8_t *x, int8_t *y, int8_t *patch, const edgec_conv_params_t *params)
{
    enum {
        HEIGHT = 9,
        WIDTH = 9,
        CHANNELS = 4,
        OUT_HEIGHT = 9,
        OUT_WIDTH = 9,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 2,
        PAD_LEFT = 2,
        DILATION_H = 2,
        DILATION_W = 2,
        OUT_CHANNELS = 6,
        GROUPS = 2,
        GROUP_CHANNELS = 2,
        GROUP_FILTERS = 3,
        DEPTH = 18,
        BLOCK = 3,
        REST = 0,
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
                    for (int32_t i = 0; i < DEPTH; i++) {
                        const int32_t value = row[i];
                        sum0 += value * w[0 * DEPTH + i];
                        sum1 += value * w[1 * DEPTH + i];
                        sum2 += value * w[2 * DEPTH + i];
                    }
                    const int32_t acc[3] = {sum0, sum1, sum2};
                    for (int32_t j = 0; j < 3; j++) {
                        const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                                 p.y_zero_point, p.act_min, p.act_max);
                        y[first + o + j] = value;
                    }
                }
            }
        }
    }
}
