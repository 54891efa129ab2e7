/* Convolution [5, 6, 4] to [5, 6, 5], 3x3 window, stride 1x1, three rows at a time. */
static void tile_3x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_twice_params_t *params)
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
        OUT_CHANNELS = 5,
        ROWS = 30,
        WORDS = 10,
        RUN_WORDS = KERNEL_W * CHANNELS / 4,
    };
    const edgec_twice_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const uint32_t padding = edgec_sxtb16((uint8_t)p.x_zero_point * 0x01010101U);
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(widened + (WORDS - 1) * EDGEC_TILE_3X2_ROWS * 2, 0, EDGEC_TILE_3X2_ROWS * 8);
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_3X2_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_TILE_3X2_ROWS);
        for (int32_t j = 0; j < EDGEC_TILE_3X2_ROWS; j++) {
            edgec_pair_t *to = widened + 2 * j;
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++, to += RUN_WORDS * EDGEC_TILE_3X2_ROWS * 2) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                if (iy < 0 || iy >= HEIGHT) {
                    edgec_fill3(padding, to, RUN_WORDS);
                    continue;
                }
                const int32_t left = edgec_max_s32(-ix, 0);
                const int32_t right = edgec_min_s32(WIDTH - ix, KERNEL_W);
                const int32_t words = CHANNELS / 4;
                edgec_fill3(padding, to, left * words);
                edgec_widen3(x + (iy * WIDTH + ix + left) * CHANNELS, to + left * words * EDGEC_TILE_3X2_ROWS * 2, (right - left) * words);
                edgec_fill3(padding, to + right * words * EDGEC_TILE_3X2_ROWS * 2,
                            (KERNEL_W - right) * words);
            }
            /* Rows beyond the last one repeat it; their sums are not stored. */
            if (first + j < ROWS - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        const int8_t *weights = p.weights;
        for (int32_t o = 0; o < OUT_CHANNELS; o += 2, weights += WORDS * 8) {
            const bool pair = o + 1 < OUT_CHANNELS;
            const int32_t second = pair ? p.bias[o + 1] : 0;
            const int32_t filters = pair ? 2 : 1;
            int32_t sums[2 * EDGEC_TILE_3X2_ROWS];
            for (int32_t j = 0; j < EDGEC_TILE_3X2_ROWS; j++) {
                sums[2 * j] = p.bias[o];
                sums[2 * j + 1] = second;
            }
            edgec_dot_3x2(weights, widened, sums, weights + WORDS * 8);
            for (int32_t j = 0; j < count; j++) {
                int8_t *const to = y + (first + j) * OUT_CHANNELS + o;
                for (int32_t f = 0; f < filters; f++) {
                    to[f] = edgec_requantize_twice_s8(sums[2 * j + f], p.multiplier[o + f], p.offset[o + f], p.shift[o + f], INT8_MIN, INT8_MAX);
                }
            }
        }
    }
}
