/* Average pool of int16 [5, 5, 3], 2x2 window, stride 2x2. */
static void mixed_average_s8_0(const int16_t *x, const int32_t *multipliers, int8_t *y)
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
    };
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            const int32_t taps = (ky1 > ky0 && kx1 > kx0) ? (ky1 - ky0) * (kx1 - kx0) : 0;
            const int32_t multiplier = multipliers[taps];
            for (int32_t c = 0; c < CHANNELS; c++) {
                int32_t acc = -(taps * 0);
                for (int32_t ky = ky0; ky < ky1; ky++) {
                    const int32_t row = (iy + ky * DILATION_H) * WIDTH + ix;
                    for (int32_t kx = kx0; kx < kx1; kx++) {
                        acc += x[(row + kx * DILATION_W) * CHANNELS + c];
                    }
                }
                const int32_t scaled = edgec_requantize(acc, multiplier, 32);
                *y++ = (int8_t)edgec_clamp_s32(
                    scaled + -3, -128, 127);
            }
        }
    }
}
