#ifndef EDGEC_PLANES_offset_1_3_0
#define EDGEC_PLANES_offset_1_3_0
EDGEC_PLANES_TILE(edgec_planes_offset_1_3_0, 1, 3, 0, 1, 0)
#endif

/* Depthwise convolution [9, 9, 8] to [9, 9, 8], 3x3 window, stride 1x1, four channels at a time. */
static void depthwise_planes_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    static const edgec_planes_layer_t layer = {
        .tile = edgec_planes_offset_1_3_0,
        .height = 9,
        .width = 9,
        .channels = 8,
        .out_height = 9,
        .out_width = 9,
        .pad_top = 1,
        .left = 1,
        .inside = 9,
        .columns = 11,
        .stride = 1,
        .pairs = 3,
        .strip = 4,
        .shift = 0,
    };
    edgec_planes_offset(x, y, scratch, params, &layer);
}
