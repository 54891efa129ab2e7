/* Convolution [5, 6, 4] to [3, 2, 6], 3x3 window, stride 1x2. */
EDGEC_SEPARATE void conv2d_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *patch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
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
        OUT_CHANNELS = 6,
        DEPTH = 36,
        BLOCK = 4,
        REST = 2,
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
            {
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
                    y[first + o + j] = edgec_add_s8(value, residual[first + o + j], &addition);
                }
            }
        }
    }
}
