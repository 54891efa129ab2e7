#ifndef EDGEC_SUMS_8
#define EDGEC_SUMS_8
EDGEC_TILE_4X2(edgec_sums_8, 8, 4, 4, 8, 64, 0, 0)
#endif

EDGEC_SEPARATE void tile_4x2_s8_0_store(const edgec_s32_t *sum, const edgec_s32_t *end, const edgec_twice_params_t *params,
    int32_t pair, int8_t *to, int32_t rows)
{
    enum { UNITS = 5 };
    const edgec_twice_params_t p = *params;
    for (int32_t o = 2 * pair; sum < end; sum += 2 * EDGEC_TILE_4X2_ROWS, o += 2, to += 2) {
        for (int32_t f = 0; f < edgec_min_s32(UNITS - o, 2); f++) {
            for (int32_t t = 0; t < rows; t++) {
                to[t * UNITS + f] = edgec_requantize_twice_any_s8(sum[2 * t + f] + p.bias[o + f], p.multiplier[o + f], p.offset[o + f], p.shift[o + f], p.act_min, p.act_max);
            }
        }
    }
}

/* Matrix product [9, 32] by [5, 32], four rows at a time. */
EDGEC_IN_LINES void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_twice_params_t *params)
{
    enum {
        ROWS = 9,
        DEPTH = 32,
        UNITS = 5,
        WORDS = 8,
        PAIRS = 3,
        BATCH = 3,
    };
    const edgec_twice_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 288);
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_4X2_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_TILE_4X2_ROWS);
        /* Rows beyond the last one repeat it. */
        for (int32_t t = 0; t < EDGEC_TILE_4X2_ROWS; t++) {
            edgec_widen4_any(x + edgec_min_s32(t, count - 1) * DEPTH, widened, t, WORDS);
        }
        x += EDGEC_TILE_4X2_ROWS * DEPTH;
        int8_t *to = y + first * UNITS;
        for (int32_t pair = 0; pair < PAIRS; pair += BATCH) {
            const int32_t batch = edgec_min_s32(PAIRS - pair, BATCH);
            edgec_sums_8(p.weights + pair * 64, widened, sums, batch);
            tile_4x2_s8_0_store(sums, sums + 2 * EDGEC_TILE_4X2_ROWS * batch, &p, pair, to + 2 * pair, count);
        }
    }
}
