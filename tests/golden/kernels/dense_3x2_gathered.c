/* Convolution [5, 5, 3] to [3, 3, 6], 2x2 window, stride 2x2, three rows at a time. */
static void dense_3x2_s8_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
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
        OUT_CHANNELS = 6,
        ROWS = 9,
        WORDS = 4,
        RUN_WORDS = KERNEL_W * CHANNELS / 4,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    int8_t *const patch = scratch + WORDS * EDGEC_DENSE_3X2_ROWS * 8;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(patch, 0, (size_t)(WORDS * 4));
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_DENSE_3X2_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_DENSE_3X2_ROWS);
        for (int32_t j = 0; j < EDGEC_DENSE_3X2_ROWS; j++) {
            int8_t *to = patch;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                for (int32_t kx = 0; kx < KERNEL_W; kx++, to += CHANNELS) {
                    const int32_t ix = ox * STRIDE_W - PAD_LEFT + kx * DILATION_W;
                    if (iy >= 0 && iy < HEIGHT && ix >= 0 && ix < WIDTH) {
                        memcpy(to, x + (iy * WIDTH + ix) * CHANNELS, (size_t)CHANNELS);
                    } else {
                        memset(to, p.x_zero_point, (size_t)CHANNELS);
                    }
                }
            }
            edgec_widen3(patch, widened + 2 * j, WORDS);
            /* Rows beyond the last one repeat it; their sums are not stored. */
            if (first + j < ROWS - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        const int8_t *weights = p.weights;
        for (int32_t o = 0; o < OUT_CHANNELS; o += 2, weights += WORDS * 8) {
            const int32_t second = p.bias[o + 1];
            const int32_t filters = 2;
            int32_t sums[2 * EDGEC_DENSE_3X2_ROWS];
            for (int32_t j = 0; j < EDGEC_DENSE_3X2_ROWS; j++) {
                sums[2 * j] = p.bias[o];
                sums[2 * j + 1] = second;
            }
            edgec_dot_3x2(weights, widened, sums, weights + WORDS * 8);
            for (int32_t j = 0; j < count; j++) {
                int8_t *const to = y + (first + j) * OUT_CHANNELS + o;
                for (int32_t f = 0; f < filters; f++) {
                    to[f] = edgec_requantize_s8(sums[2 * j + f], p.multiplier[o + f], SHIFT,
                                                p.y_zero_point, p.act_min, p.act_max);
                }
            }
        }
    }
}
