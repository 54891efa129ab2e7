EDGEC_SEPARATE void binary_4x4_neon_s8_0_4(const uint8_t *packed, const edgec_threshold_params_t *params,
const int16_t *const *numbers, uint8_t *masks, uint32_t *y, int32_t count)
{
    enum { FILTERS = 36, OUT_WORDS = 2 };
    const edgec_threshold_params_t p = *params;
    const uint8_t *weights = (const uint8_t *)p.weights;
    uint8_t *to = masks;
    for (int32_t o = 0; o < FILTERS; o += EDGEC_NEON_ROWS) {
        const edgec_neon_apart_t apart = edgec_neon_signs_apart(packed, weights, 4, 8 > 0);
        vst1q_u8(to, edgec_neon_signs_beyond(apart, edgec_neon_signs_two(numbers[0] + o, numbers[1] + o), edgec_neon_signs_two(numbers[2] + o, numbers[3] + o)));
        weights += 288;
        to += 16;
    }
    for (int32_t n = 0; n < OUT_WORDS; n++) {
        uint32_t words[EDGEC_NEON_ROWS];
        vst1q_u32(words, edgec_neon_signs_words(masks + n * 128));
        for (int32_t t = 0; t < count; t++) {
            y[t * OUT_WORDS + n] = words[t];
        }
    }
}

/* Convolution of signs [5, 6, 40] to [5, 6, 33], 3x3 window, stride 1x1, four rows at a time; sums of 360 products. */
static void binary_4x4_neon_s8_0(const uint32_t *signs, uint32_t *y, int8_t *scratch, const edgec_threshold_params_t *params)
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
        ROWS = 30,
        UNITS = 33,
        FILTERS = 36,
    };
    static const uint8_t row_class[OUT_HEIGHT] = {0, 1, 1, 1, 2};
    static const uint8_t column_class[OUT_WIDTH] = {0, 1, 1, 1, 1, 2};
    const int16_t *const x = (const int16_t *)(const void *)signs;
    uint8_t *const packed = (uint8_t *)scratch;
    int8_t *const patch = scratch + 288;
    const int16_t *const outside = params->thresholds;
    const int16_t *numbers[EDGEC_NEON_ROWS];
    uint8_t *const masks = (uint8_t *)scratch + 368;
    /* There are no filters for the last bits of a word. */
    memset(masks, 0, 256);
    /* Bits beyond the last one of a row are alike on both sides. */
    memset(packed, 0, 288);
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_NEON_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_NEON_ROWS);
        for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
            /* Rows beyond the last one repeat it; what they give is not stored, or stored again. */
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
            edgec_neon_signs_spread(patch, scratch + t * EDGEC_NEON_LANES, scratch + 256 + t * 8, 4, 72);
            numbers[t] = outside + (row_class[oy] * COLUMN_CLASSES + column_class[ox]) * FILTERS;
            if (t < count - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        ox++;
        oy += (ox == OUT_WIDTH) ? 1 : 0;
        ox = (ox == OUT_WIDTH) ? 0 : ox;
        binary_4x4_neon_s8_0_4(packed, params, numbers, masks, y + first * 2, count);
    }
}
