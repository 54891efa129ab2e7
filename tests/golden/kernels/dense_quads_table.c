#ifndef EDGEC_SUMS_8
#define EDGEC_SUMS_8
EDGEC_QUADS_4X2(edgec_sums_8, 8, 8, 4, 8, 64, 0, 0)
#endif

EDGEC_SEPARATE void dense_quads_s8_0_store4(const edgec_s32_t *sum, const edgec_s32_t *end, const int32_t *bias,
    const int16_t *multiplier, int8_t *to, const int8_t *table)
{
    enum { UNITS = 10, PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511 };
    for (; sum < end; sum += 2 * EDGEC_TOKENS) {
        {
            edgec_four_t scaled;
            EDGEC_RESCALE4(scaled, sum + 0, bias[0], multiplier[0], PRE_SHIFT, SHIFT, 10);
            const int8_t y0 = table[scaled.value[0] - LOW];
            const int8_t y1 = table[scaled.value[1] - LOW];
            const int8_t y2 = table[scaled.value[2] - LOW];
            const int8_t y3 = table[scaled.value[3] - LOW];
            to[0 * UNITS + 0] = y0;
            to[1 * UNITS + 0] = y1;
            to[2 * UNITS + 0] = y2;
            to[3 * UNITS + 0] = y3;
        }
        {
            edgec_four_t scaled;
            EDGEC_RESCALE4(scaled, sum + 1, bias[1], multiplier[1], PRE_SHIFT, SHIFT, 10);
            const int8_t y0 = table[scaled.value[0] - LOW];
            const int8_t y1 = table[scaled.value[1] - LOW];
            const int8_t y2 = table[scaled.value[2] - LOW];
            const int8_t y3 = table[scaled.value[3] - LOW];
            to[0 * UNITS + 1] = y0;
            to[1 * UNITS + 1] = y1;
            to[2 * UNITS + 1] = y2;
            to[3 * UNITS + 1] = y3;
        }
        bias += 2;
        multiplier += 2;
        to += 2;
    }
}

/* Matrix product [8, 32] by [10, 32], four rows at a time. */
static void dense_quads_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_narrow_params_t *params)
{
    enum {
        ROWS = 8,
        DEPTH = 32,
        UNITS = 10,
        PAIRS = 5,
        QUADS = 8,
        BATCH = 5,
    };
    const edgec_narrow_params_t p = *params;
    edgec_pair_t *const tokens = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 288);
    for (int32_t first = 0; first < ROWS; first += EDGEC_TOKENS) {
        const int32_t count = EDGEC_TOKENS;
        for (int32_t t = 0; t < EDGEC_TOKENS; t++) {
            /* Rows behind the last one repeat it; their sums are not stored. */
            edgec_widen4(x + edgec_min_s32(t, count - 1) * DEPTH, tokens, t, QUADS);
        }
        x += EDGEC_TOKENS * DEPTH;
        int8_t *to = y + first * UNITS;
        for (int32_t pair = 0; pair < PAIRS; pair += BATCH) {
            const int32_t batch = edgec_min_s32(PAIRS - pair, BATCH);
            edgec_sums_8(p.weights + pair * (2 * DEPTH), tokens, sums, batch);
            dense_quads_s8_0_store4(sums, sums + 2 * EDGEC_TOKENS * batch, p.bias + 2 * pair, p.multiplier + 2 * pair,
    to + 2 * pair, table);
        }
    }
}
