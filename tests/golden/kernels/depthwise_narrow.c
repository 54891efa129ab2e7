#ifndef EDGEC_NARROW_TAKE_6
#define EDGEC_NARROW_TAKE_6
EDGEC_NARROW_TAKE(edgec_narrow_take_6, 3, 0)
#endif
#ifndef EDGEC_NARROW_offset_1_1_6_1_0
#define EDGEC_NARROW_offset_1_1_6_1_0
EDGEC_NARROW_ROWS(edgec_narrow_offset_1_1_6_1_0, 1, 1, 6, 1, 0, 1, 0)
#endif

/* Depthwise convolution [6, 6, 8] to [6, 6, 8], 3x3 window, stride 1x1, a row of sums at a time. */
static void depthwise_narrow_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    static const edgec_narrow_layer_t layer = {
        .streamed = {
            .take = edgec_narrow_take_6,
            .rows = edgec_narrow_offset_1_1_6_1_0,
            .channels = 8,
            .plane = 3,
            .numbers = 20,
            .shift = 0,
        },
        .height = 6,
        .length = 240,
    };
    edgec_narrow(x, y, scratch, params, &layer);
}
