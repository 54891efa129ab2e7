/* Convolution of int16 [5, 6, 4] to int16 [5, 6, 7], 3x3 window, stride 1x1, two pixels by two filters. */
EDGEC_SEPARATE void dense_2x2_s16_dsp_s8_0(const int16_t *x, int16_t *y, int8_t *scratch, const edgec_conv16_params_t *params)
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
        OUT_CHANNELS = 7,
        OUT_PIXELS = OUT_HEIGHT * OUT_WIDTH,
        GROUP_FILTERS = 7,
        DEPTH = 40,
        PATCH = 40,
        PAIR_BYTES = 2 * DEPTH,
        SHIFT = 32,
    };
    const edgec_conv16_params_t p = *params;
    int16_t *const pixels = (int16_t *)(void *)scratch;
    memset(pixels, 0, 2 * PATCH * sizeof *pixels);
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < OUT_PIXELS; first += 2) {
        const int32_t count = edgec_min_s32(OUT_PIXELS - first, 2);
        for (int32_t r = 0; r < count; r++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP;
            const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
            const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            int16_t *to = pixels + r * PATCH;
            if (ky0 > 0 || kx0 > 0 || ky1 < KERNEL_H || kx1 < KERNEL_W) {
                memset(to, 0, PATCH * sizeof *to);
            }
            to += (ky0 * KERNEL_W + kx0) * CHANNELS;
            for (int32_t ky = ky0; ky < ky1; ky++) {
                const int16_t *from = x + ((iy + ky * DILATION_H) * WIDTH + ix + kx0 * DILATION_W) * CHANNELS;
                edgec_dense_2x2_copy(from, to, (kx1 - kx0) * CHANNELS);
                to += KERNEL_W * CHANNELS;
            }
            ox++;
            if (ox == OUT_WIDTH) {
                ox = 0;
                oy++;
            }
        }
        const int8_t *weights = p.weights;
        const edgec_pair_t *const row = (const edgec_pair_t *)(void *)scratch;
        for (int32_t o = 0; o < GROUP_FILTERS; o += 2) {
            int32_t sums[4];
            edgec_dense_2x2_dot_2x2(weights, row, PATCH, DEPTH, sums);
            weights += PAIR_BYTES;
            const int32_t filters = edgec_min_s32(GROUP_FILTERS - o, 2);
            for (int32_t f = 0; f < filters; f++) {
                const int32_t channel = o + f;
                const int32_t at = first * OUT_CHANNELS + channel;
                const int32_t bias = p.bias[channel];
                {
                    y[at] = edgec_requantize_s16(bias + sums[f], p.multiplier[channel], SHIFT,
                                                                       p.y_zero_point, p.low, p.high);
                }
                if (count > 1) {
                    y[at + OUT_CHANNELS] = edgec_requantize_s16(bias + sums[f + 2], p.multiplier[channel], SHIFT,
                                                                       p.y_zero_point, p.low, p.high);
                }
            }
        }
    }
}
