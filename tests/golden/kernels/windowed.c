/* Convolution of int16 [5, 6, 4] to int16 [5, 6, 8], 3x3 window, stride 1x1. */
EDGEC_SEPARATE void windowed_s8_0(const int16_t *x, int16_t *y, const edgec_conv16_params_t *params)
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
        GROUP_CHANNELS = 4,
        GROUP_FILTERS = 8,
    };
    const edgec_conv16_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            for (int32_t o = 0; o < OUT_CHANNELS; o++) {
                const int16_t *const from = x + o / GROUP_FILTERS * GROUP_CHANNELS;
                int32_t sum = p.bias[o];
                for (int32_t ky = ky0; ky < ky1; ky++) {
                    const int32_t row = (iy + ky * DILATION_H) * WIDTH + ix;
                    for (int32_t kx = kx0; kx < kx1; kx++) {
                        const int16_t *const pixel = from + (row + kx * DILATION_W) * CHANNELS;
                        const int8_t *const w =
                            p.weights + ((o * KERNEL_H + ky) * KERNEL_W + kx) * GROUP_CHANNELS;
                        for (int32_t c = 0; c < GROUP_CHANNELS; c++) {
                            sum += (pixel[c]) * w[c];
                        }
                    }
                }
                *y++ = edgec_requantize_s16(sum, p.multiplier[o], 32, p.y_zero_point, p.low, p.high);
            }
        }
    }
}
