#ifndef EDGEC_HAS_edgec_tile_4x2_left_odd3
#define EDGEC_HAS_edgec_tile_4x2_left_odd3
EDGEC_TILE_4X2_SHARED(edgec_tile_4x2_left_odd3, 0, 0, 1, 3)
#endif

/* Matrix product [9, 32] by [5, 32], three rows at a time. */
static void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    static const edgec_tile_4x2_layer_t layer = {
        .outputs3 = edgec_tile_4x2_left_odd3,
        .rows = 9,
        .rows_by_four = 0,
        .channels = 32,
        .words = 8,
        .row_bytes = 5,
        .stored = 240,
        .left = 1,
        .patch = 296,
    };
    edgec_tile_4x2_layer(x, y, scratch, params->weights, edgec_tile_4x2_offset(params->y_zero_point, 33), &layer);
}
