/* Convolution of int16 [9, 9, 4] to [9, 9, 6], 3x3 window, stride 1x1, dilation 2x2, 2 groups. */
EDGEC_SEPARATE void wide_conv_s8_0(const int16_t *x, const int8_t *weights, const int32_t *bias,
    const int16_t *multiplier, const int8_t *shift, int16_t *y)
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
        GROUP_CHANNELS = 2,
        GROUP_FILTERS = 3,
    };
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
                int32_t sum = bias[o];
                for (int32_t ky = ky0; ky < ky1; ky++) {
                    const int32_t row = (iy + ky * DILATION_H) * WIDTH + ix;
                    for (int32_t kx = kx0; kx < kx1; kx++) {
                        const int16_t *const pixel = from + (row + kx * DILATION_W) * CHANNELS;
                        const int8_t *const w =
                            weights + ((o * KERNEL_H + ky) * KERNEL_W + kx) * GROUP_CHANNELS;
                        for (int32_t c = 0; c < GROUP_CHANNELS; c++) {
                            sum += (int32_t)pixel[c] * w[c];
                        }
                    }
                }
                *y++ = edgec_wide_end(sum, multiplier[o], shift[o], -32768, 32767);
            }
        }
    }
}
