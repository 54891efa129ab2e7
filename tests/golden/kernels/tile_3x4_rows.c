/* The outputs of `count` rows and some filters, from the words of their sums. */
EDGEC_SEPARATE void tile_3x4_s8_0_store(const edgec_tile_3x4_t *words, int32_t filters, int32_t count,
    const int32_t *bias, const int16_t *multiplier, edgec_s16_t *y, const edgec_s16_t *added)
{
    enum {
        OUT_CHANNELS = 7,
        PRE_SHIFT = 0, SHIFT = 9, LOW = -32768, HIGH = 32767,
    };
    /* Rows beyond the last one repeat it, and so do their outputs. */
    const int32_t second = (count > 1) ? OUT_CHANNELS : 0;
    const int32_t third = (count - 1) * OUT_CHANNELS;
    edgec_s16_t *const y1 = y + second;
    edgec_s16_t *const y2 = y + third;
    const edgec_s16_t *const added0 = added;
    const edgec_s16_t *const added1 = added + second;
    const edgec_s16_t *const added2 = added + third;
    for (int32_t f = 0; f < filters; f++) {
        int32_t sums[EDGEC_TILE_3X4_ROWS] = {bias[f], bias[f], bias[f]};
        edgec_tile_3x4_add(words + 0 + 2 * f, sums);
        edgec_tile_3x4_add(words + 16 + 2 * f, sums);
        const edgec_s16_t code0 = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[0], multiplier[f], PRE_SHIFT, SHIFT) + added0[f], LOW, HIGH);
        const edgec_s16_t code1 = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[1], multiplier[f], PRE_SHIFT, SHIFT) + added1[f], LOW, HIGH);
        const edgec_s16_t code2 = (edgec_s16_t)(edgec_s16_t)edgec_limit(edgec_rescale(sums[2], multiplier[f], PRE_SHIFT, SHIFT) + added2[f], LOW, HIGH);
        y[f] = code0;
        y1[f] = code1;
        y2[f] = code2;
    }
}

/* Convolution [5, 5, 12] to [5, 5, 7], 1x1 window, stride 1x1, three rows at a time. */
EDGEC_SEPARATE void tile_3x4_s8_0(const int8_t *x, const edgec_s16_t *residual, edgec_s16_t *y, int8_t *scratch, const edgec_rescale16_params_t *params, int32_t rows)
{
    enum {
        OUT_CHANNELS = 7,
        DEPTH = 12,
        FILTERS = 2,
        BATCH = 8,
    };
    const int8_t *const weights = params->weights;
    const int32_t *const bias = params->bias;
    const int16_t *const multiplier = params->multiplier;
    edgec_tile_3x4_t *const packed = (edgec_tile_3x4_t *)(void *)scratch;
    edgec_tile_3x4_t *const words = (edgec_tile_3x4_t *)(void *)(scratch + 96);
    /* The residual may lie where y is written, so that of a block is copied first. */
    edgec_s16_t *const added = (edgec_s16_t *)(void *)(scratch + 224);
    for (int32_t first = 0; first < rows; first += EDGEC_TILE_3X4_ROWS) {
        /* Rows beyond the last one repeat it; their sums are not stored. */
        const int32_t count = edgec_min_s32(rows - first, EDGEC_TILE_3X4_ROWS);
        const int8_t *const row = x + first * DEPTH;
        edgec_tile_3x4_pack(row, row + ((count > 1) ? DEPTH : 0), row + (count - 1) * DEPTH, packed,
                           DEPTH);
        memcpy(added, residual + first * OUT_CHANNELS, (size_t)(count * OUT_CHANNELS) * sizeof *added);
        for (int32_t o = 0; o < OUT_CHANNELS; o += BATCH) {
            const int32_t filters = edgec_min_s32(OUT_CHANNELS - o, BATCH);
            const int8_t *const of_batch = weights + o * 12;
            {
                edgec_tile_3x4_t *const sums = words + 0;
                const edgec_tile_3x4_part_t part = {of_batch + 0, packed + 0, packed + 16,
                    sums, sums + (filters + FILTERS - 1) / FILTERS * (2 * FILTERS), 8};
                edgec_tile_3x4_sums2(&part);
            }
            {
                edgec_tile_3x4_t *const sums = words + 16;
                const edgec_tile_3x4_part_t part = {of_batch + 16, packed + 16, packed + 24,
                    sums, sums + (filters + FILTERS - 1) / FILTERS * (2 * FILTERS), 16};
                edgec_tile_3x4_sums2(&part);
            }
            tile_3x4_s8_0_store(words, filters, count, bias + o, multiplier + o, y + first * OUT_CHANNELS + o, added + o);
        }
    }
}
