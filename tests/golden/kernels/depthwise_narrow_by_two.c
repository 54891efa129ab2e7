#ifndef EDGEC_NARROW_TAKE_9
#define EDGEC_NARROW_TAKE_9
EDGEC_NARROW_TAKE(edgec_narrow_take_9, 5, 1)
#endif
#ifndef EDGEC_NARROW_offsets_2_1_5_1_5
#define EDGEC_NARROW_offsets_2_1_5_1_5
EDGEC_NARROW_ROWS(edgec_narrow_offsets_2_1_5_1_5, 2, 1, 5, 1, 5, 1, 1)
#endif

/* Depthwise convolution [9, 9, 8] to [5, 5, 8], 3x3 window, stride 2x2, a row of sums at a time. */
static void depthwise_narrow_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    static const edgec_narrow_layer_t layer = {
        .streamed = {
            .take = edgec_narrow_take_9,
            .rows = edgec_narrow_offsets_2_1_5_1_5,
            .channels = 8,
            .plane = 5,
            .numbers = 24,
            .shift = 5,
        },
        .height = 9,
        .length = 640,
    };
    edgec_narrow(x, y, scratch, params, &layer);
}
