#ifndef EDGEC_DEPTHWISE_FEW_COLUMNS_TAKE_9
#define EDGEC_DEPTHWISE_FEW_COLUMNS_TAKE_9
EDGEC_DEPTHWISE_FEW_COLUMNS_TAKE(edgec_depthwise_few_columns_take_9, 5, 1)
#endif
#ifndef EDGEC_DEPTHWISE_FEW_COLUMNS_offsets_2_1_5_1_5
#define EDGEC_DEPTHWISE_FEW_COLUMNS_offsets_2_1_5_1_5
EDGEC_DEPTHWISE_FEW_COLUMNS_ROWS(edgec_depthwise_few_columns_offsets_2_1_5_1_5, 2, 1, 5, 1, 5, 1, 1)
#endif

/* Depthwise convolution [9, 9, 8] to [5, 5, 8], 3x3 window, stride 2x2, a row of sums at a time. */
static void depthwise_3x3_few_columns_s8_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_residual_params_t *params)
{
    static const edgec_depthwise_few_columns_layer_t layer = {
        .streamed = {
            .take = edgec_depthwise_few_columns_take_9,
            .rows = edgec_depthwise_few_columns_offsets_2_1_5_1_5,
            .channels = 8,
            .plane = 5,
            .numbers = 24,
            .shift = 5,
        },
        .height = 9,
        .length = 640,
    };
    edgec_depthwise_few_columns(x, y, scratch, params, &layer);
}
