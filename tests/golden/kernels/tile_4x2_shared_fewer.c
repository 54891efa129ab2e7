#ifndef EDGEC_HAS_edgec_tile_4x2_left4
#define EDGEC_HAS_edgec_tile_4x2_left4
EDGEC_TILE_4X2_SHARED(edgec_tile_4x2_left4, 0, 0, 0, 4)
#endif

#ifndef EDGEC_HAS_edgec_tile_4x2_left3
#define EDGEC_HAS_edgec_tile_4x2_left3
EDGEC_TILE_4X2_SHARED(edgec_tile_4x2_left3, 0, 0, 0, 3)
#endif

/* Matrix product [10, 32] by [6, 32], four or three rows at a time. */
static void tile_4x2_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    static const edgec_tile_4x2_layer_t layer = {
        .outputs4 = edgec_tile_4x2_left4,
        .outputs3 = edgec_tile_4x2_left3,
        .rows = 10,
        .rows_by_four = 4,
        .channels = 32,
        .words = 8,
        .row_bytes = 6,
        .stored = 240,
        .left = 1,
        .patch = 296,
    };
    edgec_tile_4x2_layer(x, y, scratch, params->weights, edgec_tile_4x2_offset(params->y_zero_point, 33), &layer);
}
