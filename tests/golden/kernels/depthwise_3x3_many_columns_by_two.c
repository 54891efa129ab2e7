#ifndef EDGEC_DEPTHWISE_MANY_COLUMNS_TAKE_0_9
#define EDGEC_DEPTHWISE_MANY_COLUMNS_TAKE_0_9
EDGEC_DEPTHWISE_MANY_COLUMNS_TAKE(edgec_depthwise_many_columns_take_0_9, 9, 0)
#endif
#ifndef EDGEC_DEPTHWISE_MANY_COLUMNS_offsets_2_5
#define EDGEC_DEPTHWISE_MANY_COLUMNS_offsets_2_5
EDGEC_DEPTHWISE_MANY_COLUMNS_ROWS(edgec_depthwise_many_columns_offsets_2_5, 2, 9, 5, 1, 1, 0)
#endif

/* Depthwise convolution [24, 24, 8] to [12, 12, 8], 3x3 window, stride 2x2, six sums at a time. */
static void depthwise_3x3_many_columns_s8_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_residual_params_t *params)
{
    static const edgec_depthwise_many_columns_layer_t layer = {
        .streamed = {
            .take = edgec_depthwise_many_columns_take_0_9,
            .rows = edgec_depthwise_many_columns_offsets_2_5,
            .channels = 8,
            .plane = 9,
            .numbers = 24,
            .shift = 5,
        },
        .height = 24,
        .width = 24,
        .out_height = 12,
        .out_width = 12,
        .stride = 2,
        .above = 0,
        .left = 0,
        .strip = 4,
    };
    edgec_depthwise_many_columns(x, y, scratch, params, &layer);
}
