/* Convolution of planes, 2 by 2 bits to 2 bits, [5, 6, 40] to [5, 6, 33], 3x3 window, stride 1x1, word by word; sums of 360 products. */
EDGEC_SEPARATE void plane_words_s8_0(const uint32_t *planes, uint32_t *y, int8_t *patch, const edgec_plane_threshold_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 8,
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
        X_PLANES = 2,
        W_PLANES = 2,
        OUT_CHANNELS = 33,
        WORDS = 18,
        STEP = 1,
        SLOPE = -1,
        Y_PLANES = 2,
        OUT_WORDS = 2,
    };
    const edgec_plane_threshold_params_t p = *params;
    const int16_t *const x = (const int16_t *)(const void *)planes;
    const uint32_t *const window = (const uint32_t *)(const void *)patch;
    uint32_t *const row = (uint32_t *)(void *)patch + X_PLANES * WORDS;
    int32_t pixel = 0;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++, pixel++) {
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                int8_t *const to = patch + ky * (2 * (KERNEL_W * CHANNELS));
                if (iy < 0 || iy >= HEIGHT) {
                    memset(to, 0, (size_t)(2 * (KERNEL_W * CHANNELS)));
                    continue;
                }
                if (ix < 0 || ix > WIDTH - KERNEL_W) {
                    for (int32_t kx = 0; kx < KERNEL_W; kx++) {
                        if (ix + kx >= 0 && ix + kx < WIDTH) {
                            memcpy(to + kx * (2 * CHANNELS), x + (iy * WIDTH + ix + kx) * CHANNELS, (size_t)(2 * CHANNELS));
                        } else {
                            memset(to + kx * (2 * CHANNELS), 0, (size_t)(2 * CHANNELS));
                        }
                    }
                    continue;
                }
                memcpy(to, x + (iy * WIDTH + ix) * CHANNELS, (size_t)(2 * (KERNEL_W * CHANNELS)));
            }
            edgec_planes_split(window, row, X_PLANES, KERNEL_H * KERNEL_W, 2);
            const int32_t start = SLOPE * edgec_planes_sum(row, X_PLANES, WORDS);
            int32_t o = 0;
            for (int32_t n = 0; n < OUT_WORDS; n++) {
                uint32_t word0 = 0;
                uint32_t word1 = 0;
                for (uint32_t bit = 0; bit < 32 && o < OUT_CHANNELS; bit++, o++) {
                    const int32_t apart = edgec_planes_apart(row, p.weights + o * W_PLANES * WORDS, X_PLANES, W_PLANES, WORDS);
                    const int32_t total = STEP * apart - start;
                    const uint32_t reached0 = (uint32_t)(total <= p.most[0 * OUT_CHANNELS + o]);
                    const uint32_t reached1 = (uint32_t)(total <= p.most[1 * OUT_CHANNELS + o]);
                    const uint32_t reached2 = (uint32_t)(total <= p.most[2 * OUT_CHANNELS + o]);
                    word0 |= (reached0 ^ reached1 ^ reached2) << bit;
                    word1 |= (reached1) << bit;
                }
                y[(pixel * Y_PLANES + 0) * OUT_WORDS + n] = word0;
                y[(pixel * Y_PLANES + 1) * OUT_WORDS + n] = word1;
            }
        }
    }
}
