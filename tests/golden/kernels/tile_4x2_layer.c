EDGEC_TILE_4X2_HIGH(tile_4x2_s8_0_outputs4, 8, 4, 0, 33, EDGEC_TILE_4X2_INTERLEAVED, 0, 6, 0, 4)

/* Matrix product [8, 32] by [6, 32], four rows at a time. */
static void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    static const edgec_tile_4x2_layer_t layer = {
        .outputs4 = tile_4x2_s8_0_outputs4,
        .rows = 8,
        .rows_by_four = 8,
        .channels = 32,
        .words = 8,
        .row_bytes = 6,
        .stored = 240,
        .left = 0,
        .patch = 296,
    };
    edgec_tile_4x2_layer(x, y, scratch, params->weights, edgec_tile_4x2_offset(params->y_zero_point, 33), &layer);
}
