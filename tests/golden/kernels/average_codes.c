/* Average pool of codes [5, 6, 4], 3x3 window, stride 1x1. */
static void average_codes_s8_0(const int8_t *x, int8_t *y, const edgec_average_codes_params_t *params)
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
    };
    const edgec_average_codes_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            const int32_t taps = (ky1 - ky0) * (kx1 - kx0);
            for (int32_t c = 0; c < CHANNELS; c++) {
                int32_t acc = 0;
                for (int32_t ky = ky0; ky < ky1; ky++) {
                    const int32_t row = (iy + ky * DILATION_H) * WIDTH + ix;
                    for (int32_t kx = kx0; kx < kx1; kx++) {
                        acc += x[(row + kx * DILATION_W) * CHANNELS + c];
                    }
                }
                y[(oy * OUT_WIDTH + ox) * CHANNELS + c] =
                    edgec_clamp_s8(edgec_quotient(acc, taps), p.act_min, p.act_max);
            }
        }
    }
}
