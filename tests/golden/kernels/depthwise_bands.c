#ifndef EDGEC_BANDS_TAKE_1_26
#define EDGEC_BANDS_TAKE_1_26
EDGEC_BANDS_TAKE(edgec_bands_take_1_26, 26, 1)
#endif
#ifndef EDGEC_BANDS_offset_1_2
#define EDGEC_BANDS_offset_1_2
EDGEC_BANDS_ROWS(edgec_bands_offset_1_2, 1, 26, 2, 0, 0)
#endif

/* Depthwise convolution [24, 24, 8] to [24, 24, 8], 3x3 window, stride 1x1, six sums at a time. */
static void depthwise_bands_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_stream_params_t *params)
{
    static const edgec_bands_layer_t layer = {
        .streamed = {
            .take = edgec_bands_take_1_26,
            .rows = edgec_bands_offset_1_2,
            .channels = 8,
            .plane = 26,
            .numbers = 20,
            .shift = 2,
        },
        .height = 24,
        .width = 24,
        .out_height = 24,
        .out_width = 24,
        .stride = 1,
        .left = 1,
        .strip = 24,
    };
    edgec_bands(x, y, scratch, params, &layer);
}
