/* Average pool of int8 [5, 6, 4], 3x3 window, stride 1x1. */
static void average_pool_s8_0(const int8_t *x, const int32_t *multipliers, int8_t *y)
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
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        int32_t count;
        for (int32_t ox = 0; ox < OUT_WIDTH; ox += count) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            const int32_t taps = (ky1 > ky0 && kx1 > kx0) ? (ky1 - ky0) * (kx1 - kx0) : 0;
            const int32_t divisor = multipliers[taps];
            const edgec_window_shape_t shape = {
                .rows = (taps > 0) ? ky1 - ky0 : 0,
                .columns = kx1 - kx0,
                .row = DILATION_H * WIDTH * CHANNELS,
                .pixel = DILATION_W * CHANNELS,
            };
            const int32_t first = ((iy + ky0 * DILATION_H) * WIDTH + ix + kx0 * DILATION_W) * CHANNELS;
            /* Windows inside the image follow each other up to its last column. */
            const int32_t beyond = WIDTH - 1 - (KERNEL_W - 1) * DILATION_W - ix;
            const bool inside = ix >= 0 && beyond >= 0;
            count = inside ? edgec_min_s32(beyond / STRIDE_W + 1, OUT_WIDTH - ox) : 1;
            const edgec_average_t numbers = {
                .zeros = taps * -3,
                .multiplier = divisor,
                .left = 0,
                .zero_point = 5,
                .low = -128,
                .high = 127,
            };
            edgec_average_s8(x + first, y + (oy * OUT_WIDTH + ox) * CHANNELS, &shape, &numbers,
                CHANNELS, count, STRIDE_W * CHANNELS);
        }
    }
}
