/* The outputs of five rows and some filters, from the words of their sums. */
EDGEC_SEPARATE void tile_5x2_s8_0_store(const edgec_tile_5x2_t *words, int32_t filters,
    const int32_t *bias, const int16_t *multipliers, edgec_s16_t *y, const edgec_s16_t *added)
{
    enum {
        OUT_CHANNELS = 7,
        PRE_SHIFT = 0, SHIFT = 9, LOW = -32768, HIGH = 32767,
    };
    for (int32_t f = 0; f < filters; f++, words += EDGEC_TILE_5X2_WORDS) {
        const int32_t start = bias[f];
        const int16_t multiplier = multipliers[f];
        int32_t sums[EDGEC_TILE_5X2_ROWS] = {start, start, start, start, start};
        edgec_tile_5x2_add(words + 0, sums);
        edgec_tile_5x2_add(words + 24, sums);
        y[f + 0 * OUT_CHANNELS] = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[0], multiplier, PRE_SHIFT, SHIFT) + added[f + 0 * OUT_CHANNELS], LOW, HIGH);
        y[f + 1 * OUT_CHANNELS] = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[1], multiplier, PRE_SHIFT, SHIFT) + added[f + 1 * OUT_CHANNELS], LOW, HIGH);
        y[f + 2 * OUT_CHANNELS] = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[2], multiplier, PRE_SHIFT, SHIFT) + added[f + 2 * OUT_CHANNELS], LOW, HIGH);
        y[f + 3 * OUT_CHANNELS] = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[3], multiplier, PRE_SHIFT, SHIFT) + added[f + 3 * OUT_CHANNELS], LOW, HIGH);
        y[f + 4 * OUT_CHANNELS] = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[4], multiplier, PRE_SHIFT, SHIFT) + added[f + 4 * OUT_CHANNELS], LOW, HIGH);
    }
}

/* Convolution [5, 5, 12] to [5, 5, 7], 1x1 window, stride 1x1, five rows at a time. */
EDGEC_SEPARATE void tile_5x2_s8_0(const int8_t *x, const edgec_s16_t *residual, edgec_s16_t *y, int8_t *scratch, const edgec_rescale16_params_t *params, int32_t rows)
{
    enum {
        OUT_CHANNELS = 7,
        DEPTH = 12,
        BATCH = 8,
    };
    const int8_t *const weights = params->weights;
    const int32_t *const bias = params->bias;
    const int16_t *const multiplier = params->multiplier;
    edgec_tile_5x2_t *const packed = (edgec_tile_5x2_t *)(void *)scratch;
    edgec_tile_5x2_t *const words = (edgec_tile_5x2_t *)(void *)(scratch + 144);
    /* The residual may lie where y is written, so that of a block is copied first. */
    edgec_s16_t *const block = (edgec_s16_t *)(void *)(scratch + 336);
    int32_t count;
    for (int32_t first = 0; first < rows; first += count) {
        /* Rows beyond the last one repeat it; their outputs are not kept. */
        count = edgec_tile_5x2_count(rows - first);
        edgec_s16_t *const out = (count < EDGEC_TILE_5X2_ROWS) ? block : y + first * OUT_CHANNELS;
        const int8_t *from[EDGEC_TILE_5X2_ROWS];
        for (int32_t j = 0; j < EDGEC_TILE_5X2_ROWS; j++) {
            from[j] = x + (first + edgec_min_s32(j, count - 1)) * DEPTH;
        }
        edgec_tile_5x2_pack(from, packed, DEPTH);
        memcpy(block, residual + first * OUT_CHANNELS, (size_t)(count * OUT_CHANNELS) * sizeof *block);
        for (int32_t o = 0; o < OUT_CHANNELS; o += BATCH) {
            const int32_t filters = edgec_min_s32(OUT_CHANNELS - o, BATCH);
            const int8_t *const of_batch = weights + o * 12;
            {
                edgec_tile_5x2_t *const sums = words + 0;
                const edgec_tile_5x2_part_t part = {of_batch + 0, packed + 0, packed + 24,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 8, 1};
                if (count <= 3) {
                    edgec_tile_5x2_sums3(&part);
                } else {
                    edgec_tile_5x2_sums(&part);
                }
            }
            {
                edgec_tile_5x2_t *const sums = words + 24;
                const edgec_tile_5x2_part_t part = {of_batch + 16, packed + 24, packed + 36,
                    sums, sums + (filters + 1) / 2 * (2 * EDGEC_TILE_5X2_WORDS), 16, 5};
                if (count <= 3) {
                    edgec_tile_5x2_sums3(&part);
                } else {
                    edgec_tile_5x2_sums(&part);
                }
            }
            tile_5x2_s8_0_store(words, filters, bias + o, multiplier + o, out + o, block + o);
        }
        if (count < EDGEC_TILE_5X2_ROWS) {
            memcpy(y + first * OUT_CHANNELS, block, (size_t)(count * OUT_CHANNELS) * sizeof *block);
        }
    }
}
