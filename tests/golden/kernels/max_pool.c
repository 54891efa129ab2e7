/* Maximum pool [5, 6, 4], 3x3 window, stride 1x1. */
static void max_pool_s8_0(const int8_t *x, int8_t *y)
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
        PIXEL = CHANNELS * 1,
    };
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t iy = oy * STRIDE_H - PAD_TOP;
        const int32_t ky0 = edgec_first_tap(iy, DILATION_H);
        const int32_t ky1 = edgec_end_tap(iy, DILATION_H, HEIGHT, KERNEL_H);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            const int32_t kx0 = edgec_first_tap(ix, DILATION_W);
            const int32_t kx1 = edgec_end_tap(ix, DILATION_W, WIDTH, KERNEL_W);
            if (ky1 - ky0 == KERNEL_H && kx1 - kx0 == KERNEL_W) {
                const int8_t *const from = x + (iy * WIDTH + ix) * CHANNELS;
                for (int32_t c = 0; c < CHANNELS; c++) {
                    const int8_t *const in = from + c;
                    int32_t largest = INT8_MIN;
                    largest = edgec_max_s32(largest, in[(0 * DILATION_H * WIDTH + 0 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(0 * DILATION_H * WIDTH + 1 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(0 * DILATION_H * WIDTH + 2 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(1 * DILATION_H * WIDTH + 0 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(1 * DILATION_H * WIDTH + 1 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(1 * DILATION_H * WIDTH + 2 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(2 * DILATION_H * WIDTH + 0 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(2 * DILATION_H * WIDTH + 1 * DILATION_W) * CHANNELS]);
                    largest = edgec_max_s32(largest, in[(2 * DILATION_H * WIDTH + 2 * DILATION_W) * CHANNELS]);
                    y[(oy * OUT_WIDTH + ox) * CHANNELS + c] = (int8_t)largest;
                }
                continue;
            }
            const edgec_window_shape_t shape = {
                .rows = ky1 - ky0,
                .columns = kx1 - kx0,
                .row = DILATION_H * WIDTH * PIXEL,
                .pixel = DILATION_W * PIXEL,
            };
            const int32_t first = (iy + ky0 * DILATION_H) * WIDTH + ix + kx0 * DILATION_W;
            edgec_largest_s8((const int8_t *)x + first * PIXEL,
                             (int8_t *)y + (oy * OUT_WIDTH + ox) * PIXEL, &shape, PIXEL);
        }
    }
}
