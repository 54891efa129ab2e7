/* Convolution of signs [5, 6, 40] to [5, 6, 33], 3x3 window, stride 1x1, word by word; sums of 360 products. */
EDGEC_SEPARATE void binary_words_s8_0(const uint32_t *signs, uint32_t *y, int8_t *patch, const edgec_threshold_params_t *params)
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
        COLUMN_CLASSES = 3,
        OUT_CHANNELS = 33,
        WORDS = 18,
        OUT_WORDS = 2,
    };
    static const uint8_t row_class[OUT_HEIGHT] = {0, 1, 1, 1, 2};
    static const uint8_t column_class[OUT_WIDTH] = {0, 1, 1, 1, 1, 2};
    const edgec_threshold_params_t p = *params;
    const int16_t *const x = (const int16_t *)(const void *)signs;
    const uint32_t *const row = (const uint32_t *)(const void *)patch;
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
            const int32_t first = (row_class[oy] * COLUMN_CLASSES + column_class[ox]) * OUT_CHANNELS;
            const int16_t *const most = p.thresholds + first;
            int32_t o = 0;
            for (int32_t n = 0; n < OUT_WORDS; n++) {
                uint32_t word = 0;
                for (uint32_t bit = 0; bit < 32 && o < OUT_CHANNELS; bit++, o++) {
                    const int32_t apart = edgec_bits_apart(row, p.weights + o * WORDS, WORDS);
                    word |= (uint32_t)(apart > most[o]) << bit;
                }
                y[pixel * OUT_WORDS + n] = word;
            }
        }
    }
}
