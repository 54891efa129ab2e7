#ifndef EDGEC_HAS_edgec_tile_5x2_store_0_0_0_0_32
#define EDGEC_HAS_edgec_tile_5x2_store_0_0_0_0_32
#define EDGEC_CODE_edgec_tile_5x2_store_0_0_0_0_32(ACC) edgec_requantize_s8(ACC, multiplier, 32, p.y_zero_point, INT8_MIN, INT8_MAX)
EDGEC_TILE_5X2_STORE(edgec_tile_5x2_store_0_0_0_0_32, 0, EDGEC_CODE_edgec_tile_5x2_store_0_0_0_0_32)
#endif

/* Convolution [5, 6, 4] to [5, 6, 5], 3x3 window, stride 1x1, five rows at a time. */
EDGEC_SEPARATE void tile_5x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
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
        RUN = 12,
        OUT_CHANNELS = 5,
        ROWS = 30,
        DEPTH = 36,
        BATCH = 6,
    };
    const int8_t *const weights = params->weights;
    static const edgec_tile_5x2_outputs_t outputs = { .channels = 5, .parts = 5, .part_words = 18 };
    edgec_tile_5x2_t *const packed = (edgec_tile_5x2_t *)(void *)scratch;
    edgec_tile_5x2_t *const words = (edgec_tile_5x2_t *)(void *)(scratch + 432);
    int8_t *const runs = scratch + 792;
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_5X2_ROWS) {
        int8_t *const out = y + first * OUT_CHANNELS;
        int32_t tops[EDGEC_TILE_5X2_ROWS];
        int32_t lefts[EDGEC_TILE_5X2_ROWS];
        for (int32_t j = 0; j < EDGEC_TILE_5X2_ROWS; j++) {
            tops[j] = oy * STRIDE_H - PAD_TOP;
            lefts[j] = ox * STRIDE_W - PAD_LEFT;
            ox++;
            oy += (ox == OUT_WIDTH) ? 1 : 0;
            ox = (ox == OUT_WIDTH) ? 0 : ox;
        }
        edgec_tile_5x2_t *to = packed;
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int8_t *from[EDGEC_TILE_5X2_ROWS];
            for (int32_t j = 0; j < EDGEC_TILE_5X2_ROWS; j++) {
                const int32_t ix = lefts[j];
                const int32_t iy = tops[j] + ky * DILATION_H;
                int8_t *const padded = runs + j * RUN;
                if (iy < 0 || iy >= HEIGHT) {
                    memset(padded, params->x_zero_point, (size_t)RUN);
                    from[j] = padded;
                    continue;
                }
                const int32_t left = edgec_max_s32(-ix, 0);
                const int32_t right = edgec_min_s32(WIDTH - ix, KERNEL_W);
                if (right - left < KERNEL_W) {
                    memset(padded, params->x_zero_point, (size_t)RUN);
                    memcpy(padded + left * CHANNELS, x + (iy * WIDTH + ix + left) * CHANNELS,
                           (size_t)((right - left) * CHANNELS));
                    from[j] = padded;
                    continue;
                }
                from[j] = x + (iy * WIDTH + ix) * CHANNELS;
            }
            edgec_tile_5x2_pack(from, to, RUN);
            to += EDGEC_TILE_5X2_WORDS * RUN;
        }
        for (int32_t o = 0; o < OUT_CHANNELS; o += BATCH) {
            const int32_t filters = edgec_min_s32(OUT_CHANNELS - o, BATCH);
            const int8_t *const of_batch = weights + o * 36;
            {
                edgec_tile_5x2_t *const sums = words + 0;
                const edgec_tile_5x2_part_t part = {of_batch + 0, packed + 0, packed + 24,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 56, 1};
                edgec_tile_5x2_sums(&part);
            }
            {
                edgec_tile_5x2_t *const sums = words + 18;
                const edgec_tile_5x2_part_t part = {of_batch + 16, packed + 24, packed + 48,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 56, 1};
                edgec_tile_5x2_sums(&part);
            }
            {
                edgec_tile_5x2_t *const sums = words + 36;
                const edgec_tile_5x2_part_t part = {of_batch + 32, packed + 48, packed + 72,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 56, 1};
                edgec_tile_5x2_sums(&part);
            }
            {
                edgec_tile_5x2_t *const sums = words + 54;
                const edgec_tile_5x2_part_t part = {of_batch + 48, packed + 72, packed + 96,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 56, 1};
                edgec_tile_5x2_sums(&part);
            }
            {
                edgec_tile_5x2_t *const sums = words + 72;
                const edgec_tile_5x2_part_t part = {of_batch + 64, packed + 96, packed + 108,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 64, 5};
                edgec_tile_5x2_sums(&part);
            }
            edgec_tile_5x2_store_0_0_0_0_32(words, filters, o, out + o, params, &outputs);
        }
    }
}
