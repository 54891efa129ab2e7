EDGEC_TILE_4X2_OFFSET(tile_4x2_s8_0_outputs4, 8, 4, 0, 5, EDGEC_TILE_4X2_INTERLEAVED, 0, 6, 0, 4)

/* Matrix product [8, 32] by [6, 32], four rows at a time. */
EDGEC_IN_LINES void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    enum {
        ROWS = 8,
        DEPTH = 32,
        UNITS = 6,
        WORDS = 8,
        ROW_BYTES = 6,
    };
    const edgec_stream_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const edgec_pair_t *const pairs = widened + 2 * EDGEC_TILE_4X2_ROWS;
    edgec_tile_4x2_out_t out = {
        .rows_end = pairs + WORDS * 2 * EDGEC_TILE_4X2_ROWS,
        .y = (int8_t *)y,
        .places = {ROW_BYTES, 2 * ROW_BYTES, (4 - 1) * ROW_BYTES},
        .filters_end = p.weights + 264,
        .starts = (const edgec_s32_t *)(const void *)widened,
    };
    for (int32_t first = 0; first < ROWS; first += EDGEC_TILE_4X2_ROWS) {
        const int32_t count = EDGEC_TILE_4X2_ROWS;
        /* Rows beyond the last one repeat it. */
        for (int32_t t = 0; t < EDGEC_TILE_4X2_ROWS; t++) {
            edgec_widen4(x + edgec_min_s32(t, count - 1) * DEPTH, widened, t, WORDS);
        }
        x += EDGEC_TILE_4X2_ROWS * DEPTH;
        int8_t *to = y + first * UNITS;
        out.y = (int8_t *)to;
        tile_4x2_s8_0_outputs4(p.weights, pairs, &out);
    }
}
