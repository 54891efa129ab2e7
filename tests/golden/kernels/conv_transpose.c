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
        IN_CHANNELS = 8,
        GROUP_CHANNELS = 8,
        GROUP_FILTERS = 4,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    const int32_t x_zero_point = p.x_zero_point;
    for (int32_t oy = 0; oy < HEIGHT; oy++) {
        for (int32_t ox = 0; ox < WIDTH; ox++) {
            for (int32_t o = 0; o < CHANNELS; o++) {
                int32_t acc = p.bias[o];
                for (int32_t tap = 0; tap < KERNEL_H * KERNEL_W; tap++) {
                    /* The tap joins this output to input pixel (iy, ix) / stride, if there is one. */
                    const int32_t iy = oy + PAD_TOP - (tap / KERNEL_W) * DILATION_H;
                    const int32_t ix = ox + PAD_LEFT - (tap % KERNEL_W) * DILATION_W;
                    if (iy < 0 || iy % STRIDE_H != 0 || iy / STRIDE_H >= OUT_HEIGHT || ix < 0 ||
                        ix % STRIDE_W != 0 || ix / STRIDE_W >= OUT_WIDTH) {
                        continue;
                    }
                    const int32_t pixel = iy / STRIDE_H * OUT_WIDTH + ix / STRIDE_W;
                    const int32_t group = o / GROUP_FILTERS * GROUP_CHANNELS;
                    const int8_t *const from = x + pixel * IN_CHANNELS + group;
                    const int8_t *const w =
                        p.weights + (o * (KERNEL_H * KERNEL_W) + tap) * GROUP_CHANNELS;
                    for (int32_t i = 0; i < GROUP_CHANNELS; i++) {
                        acc += (from[i] - x_zero_point) * w[i];
                    }
                }
                const int8_t value = edgec_requantize_s8(acc, p.multiplier[o], SHIFT,
                                                         p.y_zero_point, p.act_min, p.act_max);
                y[(oy * WIDTH + ox) * CHANNELS + o] = value;
            }
        }
    }
}
