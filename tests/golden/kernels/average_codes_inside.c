/* Average pool of codes [5, 6, 4], 3x3 window, stride 1x2. */
static void average_codes_s8_0(const int8_t *x, int8_t *y, const edgec_average_codes_params_t *params)
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
    };
    const edgec_average_codes_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = 0;
        const int32_t ky1 = KERNEL_H;
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = 0;
            const int32_t kx1 = KERNEL_W;
            enum { taps = KERNEL_H * KERNEL_W };
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
