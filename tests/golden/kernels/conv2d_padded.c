/* Convolution [5, 6, 4] to [5, 6, 8], 3x3 window, stride 1x1. */
EDGEC_SEPARATE void conv2d_s8_0(const int8_t *x, int8_t *y, int8_t *patch, const edgec_conv_params_t *params)
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
        DEPTH = 36,
        BLOCK = 4,
        REST = 0,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
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
                    y[first + o + j] = value;
                }
            }
        }
    }
}
