/* Convolution [5, 5, 12] to [5, 5, 7], 1x1 window, stride 1x1, three rows at a time. */
static void tile_3x2_s8_0(const int8_t *x, const edgec_s16_t *residual, edgec_s16_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 5,
        CHANNELS = 12,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 5,
        KERNEL_H = 1,
        KERNEL_W = 1,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 0,
        PAD_LEFT = 0,
        DILATION_H = 1,
        DILATION_W = 1,
        OUT_CHANNELS = 7,
        ROWS = 25,
        WORDS = 4,
        RUN_WORDS = KERNEL_W * CHANNELS / 4,
        PRE_SHIFT = 0, SHIFT = 9, LOW = -32768, HIGH = 32767,
    };
    const edgec_rescale16_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(widened + (WORDS - 1) * EDGEC_TILE_3X2_ROWS * 2, 0, EDGEC_TILE_3X2_ROWS * 8);
    /* The residual may lie where y is written, so that of a block is copied first. */
    edgec_s16_t *const added = (edgec_s16_t *)(void *)(scratch + 96);
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_3X2_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_TILE_3X2_ROWS);
        for (int32_t j = 0; j < EDGEC_TILE_3X2_ROWS; j++) {
            edgec_pair_t *to = widened + 2 * j;
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++, to += RUN_WORDS * EDGEC_TILE_3X2_ROWS * 2) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                edgec_widen3(x + (iy * WIDTH + ix) * CHANNELS, to, RUN_WORDS);
            }
            /* Rows beyond the last one repeat it; their sums are not stored. */
            if (first + j < ROWS - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        memcpy(added, residual + first * OUT_CHANNELS,
               (size_t)(count * OUT_CHANNELS) * sizeof *added);
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
                for (int32_t f = 0; f < filters; f++) {
                    const int32_t at = (first + j) * OUT_CHANNELS + o + f;
                    const int32_t scaled = edgec_rescale(sums[2 * j + f], p.multiplier[o + f], PRE_SHIFT, SHIFT);
                    y[at] = (edgec_s16_t)edgec_limit(scaled + added[j * OUT_CHANNELS + o + f], LOW, HIGH);
                }
            }
        }
    }
}
