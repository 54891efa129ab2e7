/* Depthwise convolution [5, 6, 4] to [5, 6, 8], 3x3 window, stride 1x1. */
EDGEC_SEPARATE void depthwise_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, const edgec_conv_params_t *params, const edgec_add_params_t *add)
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
        MULTIPLIER = 2,
        OUT_CHANNELS = 8,
        TAPS = KERNEL_H * KERNEL_W,
        BLOCK = 1,
        REST = 0,
        SHIFT = 32,
        RESIDUAL_SHIFT = 12,
    };
    const edgec_conv_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    const int32_t x_zero_point = p.x_zero_point;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            const int32_t pixel = (oy * OUT_WIDTH + ox) * OUT_CHANNELS;
            int32_t o = 0;
            for (; o < OUT_CHANNELS - REST; o += BLOCK) {
                int32_t sum0 = p.bias[o + 0];
                for (int32_t ky = ky0; ky < ky1; ky++) {
                    const int32_t first_tap = (iy + ky * DILATION_H) * WIDTH + ix + kx0 * DILATION_W;
                    int32_t from = first_tap * CHANNELS + o / MULTIPLIER;
                    const int8_t *const w = p.weights + o * TAPS + ky * KERNEL_W;
                    for (int32_t kx = kx0; kx < kx1; kx++) {
                        sum0 += (x[from + 0] - x_zero_point) * w[0 * TAPS + kx];
                        from += DILATION_W * CHANNELS;
                    }
                }
                const int32_t acc[1] = {sum0};
                for (int32_t j = 0; j < 1; j++) {
                    const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                             p.y_zero_point, p.act_min, p.act_max);
                    y[pixel + o + j] = edgec_add_s8(value, residual[pixel + o + j], &addition);
                }
            }
        }
    }
}
