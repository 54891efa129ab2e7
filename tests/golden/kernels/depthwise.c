/* Depthwise convolution [5, 6, 4] to [5, 6, 4], 3x3 window, stride 1x1. */
static void depthwise_s8_0(const int8_t *x, int8_t *y, const edgec_conv_params_t *params)
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
        MULTIPLIER = 1,
        OUT_CHANNELS = 4,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
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
            for (int32_t o = 0; o < OUT_CHANNELS; o++) {
                int32_t acc = p.bias[o];
                for (int32_t ky = ky0; ky < ky1; ky++) {
                    const int32_t row = (iy + ky * DILATION_H) * WIDTH + ix;
                    int32_t from = (row + kx0 * DILATION_W) * CHANNELS + o / MULTIPLIER;
                    int32_t w = (ky * KERNEL_W + kx0) * OUT_CHANNELS + o;
                    for (int32_t kx = kx0; kx < kx1; kx++) {
                        acc += (x[from] - x_zero_point) * p.weights[w];
                        from += DILATION_W * CHANNELS;
                        w += OUT_CHANNELS;
                    }
                }
                const int8_t value = edgec_requantize_s8(acc, p.multiplier[o], SHIFT,
                                                         p.y_zero_point, p.act_min, p.act_max);
                y[pixel + o] = value;
            }
        }
    }
}
