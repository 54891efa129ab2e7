/* Convolution of int16 [5, 5, 3] to int16 [3, 3, 3], 2x2 window, stride 2x2, 3 groups. */
EDGEC_SEPARATE void mixed_conv_s8_0(const int16_t *x, int16_t *y, const edgec_mixed_params_t *params)
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
        OUT_CHANNELS = 3,
        GROUP_CHANNELS = 1,
        GROUP_FILTERS = 1,
    };
    const edgec_mixed_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            if (ky1 - ky0 == KERNEL_H && kx1 - kx0 == KERNEL_W) {
                const int16_t *const inside = x + (iy * WIDTH + ix) * CHANNELS;
                for (int32_t o = 0; o < OUT_CHANNELS; o++) {
                    const int16_t *const in = inside + o;
                    const int8_t *const w = p.weights + o * (KERNEL_H * KERNEL_W);
                    int32_t acc = p.bias[o];
                    acc += (in[(0 * DILATION_H * WIDTH + 0 * DILATION_W) * CHANNELS] - p.x_zero_point) * w[0];
                    acc += (in[(0 * DILATION_H * WIDTH + 1 * DILATION_W) * CHANNELS] - p.x_zero_point) * w[1];
                    acc += (in[(1 * DILATION_H * WIDTH + 0 * DILATION_W) * CHANNELS] - p.x_zero_point) * w[2];
                    acc += (in[(1 * DILATION_H * WIDTH + 1 * DILATION_W) * CHANNELS] - p.x_zero_point) * w[3];
                    const int32_t scaled = edgec_requantize(acc, p.multiplier[o], 32);
                    *y++ = (int16_t)edgec_clamp_s32(p.y_zero_point + scaled, p.low, p.high);
                }
                continue;
            }
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
                            sum += (pixel[c] - p.x_zero_point) * w[c];
                        }
                    }
                }
                const int32_t scaled = edgec_requantize(sum, p.multiplier[o], 32);
                *y++ = (int16_t)edgec_clamp_s32(p.y_zero_point + scaled, p.low, p.high);
            }
        }
    }
}
