#ifndef EDGEC_SUMS_16
#define EDGEC_SUMS_16
EDGEC_TILE_4X2(edgec_sums_16, 16, 4, 4, 8, 128, 0, 0)
#endif

EDGEC_SEPARATE void packed_filters_s8_0_part_store(const edgec_s32_t *sum, const edgec_s32_t *end, const edgec_conv_params_t *p,
    int32_t pair, int8_t *to, int32_t rows)
{
    enum { UNITS = 8, SHIFT = 32 };
    for (int32_t o = 2 * pair; sum < end; sum += 2 * EDGEC_TILE_4X2_ROWS, o += 2, to += 2) {
        for (int32_t f = 0; f < 2; f++) {
            for (int32_t t = 0; t < rows; t++) {
                to[t * UNITS + f] = edgec_requantize_s8(sum[2 * t + f] + p->bias[o + f], p->multiplier[o + f],
                                                        SHIFT, p->y_zero_point, p->act_min, p->act_max);
            }
        }
    }
}

/* Matrix product [4, 64] by [8, 64], four rows at a time. */
EDGEC_IN_LINES void packed_filters_s8_0_part(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 64,
        UNITS = 8,
        WORDS = 16,
        PAIRS = 4,
        BATCH = 4,
    };
    const edgec_conv_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 544);
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_4X2_ROWS) {
        const int32_t count = EDGEC_TILE_4X2_ROWS;
        /* Rows beyond the last one repeat it. */
        for (int32_t t = 0; t < EDGEC_TILE_4X2_ROWS; t++) {
            edgec_widen4(x + edgec_min_s32(t, count - 1) * DEPTH, widened, t, WORDS);
        }
        x += EDGEC_TILE_4X2_ROWS * DEPTH;
        int8_t *to = y + first * UNITS;
        for (int32_t pair = 0; pair < PAIRS; pair += BATCH) {
            const int32_t batch = edgec_min_s32(PAIRS - pair, BATCH);
            edgec_sums_16(p.weights + pair * 128, widened, sums, batch);
            packed_filters_s8_0_part_store(sums, sums + 2 * EDGEC_TILE_4X2_ROWS * batch, &p, pair, to + 2 * pair, count);
        }
    }
}

/* Matrix product [4, 64] by [8, 64], four rows at a time, 8 of 22 filters of 3 bits unpacked at a time. */
EDGEC_SEPARATE void packed_filters_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    edgec_conv_params_t part = *params;
    uint32_t *const weights = (uint32_t *)(void *)(scratch + 672);
    part.weights = (const int8_t *)weights;
    enum {
        ROWS = 4,
        FILTERS = 22,
        BATCH = 8,
    };
    const int8_t *codes = params->weights;
    int8_t *const part_y = (int8_t *)(void *)(scratch + 1200);
    for (int32_t first = 0; first < FILTERS; first += BATCH) {
        const int32_t count = edgec_min_s32(FILTERS - first, BATCH);
        edgec_unpack3(codes, weights, 16, 0x00800080U);
        codes += 192;
        packed_filters_s8_0_part(x, part_y, scratch, &part);
        for (int32_t row = 0; row < ROWS; row++) {
            memcpy(y + row * FILTERS + first, part_y + row * BATCH, (size_t)count * sizeof(int8_t));
        }
        part.bias += 8;
        part.multiplier += 8;
    }
}
