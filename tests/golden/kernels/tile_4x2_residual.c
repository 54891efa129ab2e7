#ifndef EDGEC_SUMS_8
#define EDGEC_SUMS_8
EDGEC_TILE_4X2(edgec_sums_8, 8, 4, 4, 8, 64, 0, 1)
#endif

EDGEC_SEPARATE void tile_4x2_s8_0_store4(const edgec_s32_t *sum, const edgec_s32_t *end, const int32_t *bias,
    const int16_t *multiplier, edgec_s16_t *to, const edgec_s16_t *extra, const int32_t *bias_end)
{
    enum { UNITS = 9, PRE_SHIFT = 0, SHIFT = 9, LOW = -32768, HIGH = 32767 };
    for (; sum < end; sum += 2 * EDGEC_TILE_4X2_ROWS) {
        {
            edgec_four_t scaled;
            EDGEC_RESCALE4(scaled, sum + 0, bias[0], multiplier[0], PRE_SHIFT, SHIFT, 0);
            const edgec_s16_t y0 = (edgec_s16_t)edgec_limit(scaled.value[0] + extra[0 * UNITS + 0], LOW, HIGH);
            const edgec_s16_t y1 = (edgec_s16_t)edgec_limit(scaled.value[1] + extra[1 * UNITS + 0], LOW, HIGH);
            const edgec_s16_t y2 = (edgec_s16_t)edgec_limit(scaled.value[2] + extra[2 * UNITS + 0], LOW, HIGH);
            const edgec_s16_t y3 = (edgec_s16_t)edgec_limit(scaled.value[3] + extra[3 * UNITS + 0], LOW, HIGH);
            to[0 * UNITS + 0] = y0;
            to[1 * UNITS + 0] = y1;
            to[2 * UNITS + 0] = y2;
            to[3 * UNITS + 0] = y3;
        }
        if (bias + 1 < bias_end) {
            edgec_four_t scaled;
            EDGEC_RESCALE4(scaled, sum + 1, bias[1], multiplier[1], PRE_SHIFT, SHIFT, 0);
            const edgec_s16_t y0 = (edgec_s16_t)edgec_limit(scaled.value[0] + extra[0 * UNITS + 1], LOW, HIGH);
            const edgec_s16_t y1 = (edgec_s16_t)edgec_limit(scaled.value[1] + extra[1 * UNITS + 1], LOW, HIGH);
            const edgec_s16_t y2 = (edgec_s16_t)edgec_limit(scaled.value[2] + extra[2 * UNITS + 1], LOW, HIGH);
            const edgec_s16_t y3 = (edgec_s16_t)edgec_limit(scaled.value[3] + extra[3 * UNITS + 1], LOW, HIGH);
            to[0 * UNITS + 1] = y0;
            to[1 * UNITS + 1] = y1;
            to[2 * UNITS + 1] = y2;
            to[3 * UNITS + 1] = y3;
        }
        bias += 2;
        multiplier += 2;
        to += 2;
        extra += 2;
    }
}

EDGEC_SEPARATE void tile_4x2_s8_0_store3(const edgec_s32_t *sum, const edgec_s32_t *end, const int32_t *bias,
    const int16_t *multiplier, edgec_s16_t *to, const edgec_s16_t *extra, const int32_t *bias_end)
{
    enum { UNITS = 9, PRE_SHIFT = 0, SHIFT = 9, LOW = -32768, HIGH = 32767 };
    for (; sum < end; sum += 2 * EDGEC_TILE_4X2_ROWS) {
        {
            edgec_four_t scaled;
            EDGEC_RESCALE4(scaled, sum + 0, bias[0], multiplier[0], PRE_SHIFT, SHIFT, 0);
            const edgec_s16_t y0 = (edgec_s16_t)edgec_limit(scaled.value[0] + extra[0 * UNITS + 0], LOW, HIGH);
            const edgec_s16_t y1 = (edgec_s16_t)edgec_limit(scaled.value[1] + extra[1 * UNITS + 0], LOW, HIGH);
            const edgec_s16_t y2 = (edgec_s16_t)edgec_limit(scaled.value[2] + extra[2 * UNITS + 0], LOW, HIGH);
            to[0 * UNITS + 0] = y0;
            to[1 * UNITS + 0] = y1;
            to[2 * UNITS + 0] = y2;
        }
        if (bias + 1 < bias_end) {
            edgec_four_t scaled;
            EDGEC_RESCALE4(scaled, sum + 1, bias[1], multiplier[1], PRE_SHIFT, SHIFT, 0);
            const edgec_s16_t y0 = (edgec_s16_t)edgec_limit(scaled.value[0] + extra[0 * UNITS + 1], LOW, HIGH);
            const edgec_s16_t y1 = (edgec_s16_t)edgec_limit(scaled.value[1] + extra[1 * UNITS + 1], LOW, HIGH);
            const edgec_s16_t y2 = (edgec_s16_t)edgec_limit(scaled.value[2] + extra[2 * UNITS + 1], LOW, HIGH);
            to[0 * UNITS + 1] = y0;
            to[1 * UNITS + 1] = y1;
            to[2 * UNITS + 1] = y2;
        }
        bias += 2;
        multiplier += 2;
        to += 2;
        extra += 2;
    }
}

/* Matrix product [7, 32] by [9, 32], four rows at a time. */
EDGEC_IN_LINES void tile_4x2_s8_0(const int8_t *x, const edgec_s16_t *residual, edgec_s16_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        ROWS = 7,
        DEPTH = 32,
        UNITS = 9,
        WORDS = 8,
        PAIRS = 5,
        BATCH = 5,
    };
    const edgec_rescale16_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 288);
    /* The residual may lie where y is written, so that of a block is copied first. */
    edgec_s16_t *const added = (edgec_s16_t *)(void *)(scratch + 448);
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_4X2_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_TILE_4X2_ROWS);
        /* Rows beyond the last one repeat it. */
        for (int32_t t = 0; t < EDGEC_TILE_4X2_ROWS; t++) {
            edgec_widen4(x + edgec_min_s32(t, count - 1) * DEPTH, widened, t, WORDS);
        }
        x += EDGEC_TILE_4X2_ROWS * DEPTH;
        edgec_s16_t *to = y + first * UNITS;
        memcpy(added, residual + first * UNITS, (size_t)(count * UNITS) * sizeof *added);
        for (int32_t pair = 0; pair < PAIRS; pair += BATCH) {
            const int32_t batch = edgec_min_s32(PAIRS - pair, BATCH);
            edgec_sums_8(p.weights + pair * 64, widened, sums, batch);
            if (count < EDGEC_TILE_4X2_ROWS) {
                tile_4x2_s8_0_store3(sums, sums + 2 * EDGEC_TILE_4X2_ROWS * batch, p.bias + 2 * pair, p.multiplier + 2 * pair,
            to + 2 * pair, added + 2 * pair, p.bias + UNITS);
                continue;
            }
            tile_4x2_s8_0_store4(sums, sums + 2 * EDGEC_TILE_4X2_ROWS * batch, p.bias + 2 * pair, p.multiplier + 2 * pair,
            to + 2 * pair, added + 2 * pair, p.bias + UNITS);
        }
    }
}
