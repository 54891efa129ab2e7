/* Transposed convolution [5, 6, 8] to [5, 6, 4], 3x3 window, stride 1x1. */
static void conv_transpose_s8_0(const int8_t *x, int8_t *y, const edgec_conv_params_t *params)
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
        STEP_H = 1,
        STEP_W = 1,
        TAPS = KERNEL_H * KERNEL_W,
        IN_CHANNELS = 8,
        BACK = STEP_W * DILATION_W / STRIDE_W * IN_CHANNELS,
        GROUPS = 1,
        GROUP_CHANNELS = 8,
        GROUP_FILTERS = 4,
        BLOCK = 2,
        REST = 0,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    const int32_t x_zero_point = p.x_zero_point;
    for (int32_t oy = 0; oy < HEIGHT; oy++) {
        const int32_t iy = oy + PAD_TOP;
        const int32_t ky0 = edgec_first_joined(iy, DILATION_H, STRIDE_H, OUT_HEIGHT, KERNEL_H);
        const int32_t ky1 = edgec_end_joined(iy, DILATION_H, KERNEL_H);
        for (int32_t ox = 0; ox < WIDTH; ox++) {
            const int32_t ix = ox + PAD_LEFT;
            const int32_t kx0 = edgec_first_joined(ix, DILATION_W, STRIDE_W, OUT_WIDTH, KERNEL_W);
            const int32_t kx1 = edgec_end_joined(ix, DILATION_W, KERNEL_W);
            for (int32_t group = 0; group < GROUPS; group++) {
                int32_t o = group * GROUP_FILTERS;
                const int32_t end = o + GROUP_FILTERS - REST;
                for (; o < end; o += BLOCK) {
                    int32_t sum0 = p.bias[o + 0];
                    int32_t sum1 = p.bias[o + 1];
                    for (int32_t ky = ky0; ky < ky1; ky += STEP_H) {
                        const int32_t row = (iy - ky * DILATION_H) / STRIDE_H * OUT_WIDTH;
                        int32_t at = (row + (ix - kx0 * DILATION_W) / STRIDE_W) * IN_CHANNELS + group * GROUP_CHANNELS;
                        const int8_t *w = p.weights + (o * TAPS + ky * KERNEL_W + kx0) * GROUP_CHANNELS;
                        for (int32_t kx = kx0; kx < kx1; kx += STEP_W, at -= BACK, w += STEP_W * GROUP_CHANNELS) {
                            const int8_t *const from = x + at;
                            edgec_dots_s8(from, x_zero_point, w, TAPS * GROUP_CHANNELS, GROUP_CHANNELS, &sum0, &sum1);
                        }
                    }
                    const int32_t acc[2] = {sum0, sum1};
                    for (int32_t j = 0; j < 2; j++) {
                        const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                                 p.y_zero_point, p.act_min, p.act_max);
                        y[(oy * WIDTH + ox) * CHANNELS + o + j] = value;
                    }
                }
            }
        }
    }
}
