EDGEC_TILE_4X2_HIGH(tile_4x2_s8_0_outputs4, 3, 3, 0, 33, EDGEC_TILE_4X2_INTERLEAVED, 0, 6, 0, 4)

EDGEC_TILE_4X2_HIGH(tile_4x2_s8_0_outputs3, 3, 3, 0, 33, EDGEC_TILE_4X2_INTERLEAVED, 0, 6, 0, 3)

/* Convolution [5, 5, 10] to [5, 5, 6], 1x1 window, stride 1x1, four or three rows at a time. */
EDGEC_IN_LINES void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    enum {
        ROWS = 25,
        DEPTH = 10,
        UNITS = 6,
        WORDS = 3,
        ROW_BYTES = 6,
    };
    const edgec_stream_params_t p = *params;
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    const edgec_pair_t *const pairs = widened + 2 * EDGEC_TILE_4X2_ROWS;
    edgec_tile_4x2_out_t out = {
        .rows_end = pairs + WORDS * 2 * EDGEC_TILE_4X2_ROWS,
        .y = (int8_t *)y,
        .places = {ROW_BYTES, 2 * ROW_BYTES, (4 - 1) * ROW_BYTES},
        .filters_end = p.weights + 120,
        .own = {.offset = edgec_tile_4x2_offset(p.y_zero_point, 33)},
        .starts = (const edgec_s32_t *)(const void *)widened,
    };
    for (int32_t first = 0; first < ROWS; first += (first < 16) ? EDGEC_TILE_4X2_ROWS : EDGEC_TILE_4X2_FEWER) {
        const int32_t tall = (first < 16) ? EDGEC_TILE_4X2_ROWS : EDGEC_TILE_4X2_FEWER;
        const int32_t count = tall;
        /* Nothing is read after the last row. */
        if (first < ROWS - tall) {
            edgec_widen4_block(x, widened, WORDS, DEPTH, (tall - 1) * DEPTH);
        } else {
            edgec_widen4_filled(x, widened, WORDS, DEPTH, (tall - 1) * DEPTH, DEPTH, scratch + 136);
        }
        x += tall * DEPTH;
        int8_t *to = y + first * UNITS;
        out.y = (int8_t *)to;
        out.places[0] = ((count - 1) >> 1) * ROW_BYTES;
        out.places[1] = ((count - 1) & 2) * ROW_BYTES;
        out.places[2] = (count - 1) * ROW_BYTES;
        if (first < 16) {
            tile_4x2_s8_0_outputs4(p.weights, pairs, &out);
        } else {
            tile_4x2_s8_0_outputs3(p.weights, pairs, &out);
        }
    }
}
