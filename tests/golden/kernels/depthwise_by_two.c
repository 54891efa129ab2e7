#ifndef EDGEC_DEPTHWISE_DSP_offsets_7x7_2_5_5
#define EDGEC_DEPTHWISE_DSP_offsets_7x7_2_5_5
EDGEC_DEPTHWISE_DSP_ROWS(edgec_depthwise_dsp_offsets_7x7_2_5_5, 7, 7, 1, 2, 5, 5, 1, 1, 0, -128)
#endif

/* Depthwise convolution [26, 26, 12] to [10, 10, 12], 7x7 window, stride 2x2, some sums of a row at a time. */
static void depthwise_s8_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_residual_params_t *params)
{
    static const edgec_depthwise_dsp_layer_t layer = {
        .rows = edgec_depthwise_dsp_offsets_7x7_2_5_5,
        .unpack = edgec_depthwise_dsp_unpack,
        .height = 26,
        .width = 26,
        .channels = 12,
        .out_height = 10,
        .out_width = 10,
        .taps = 7,
        .stride = 2,
        .dilation = 1,
        .above = 0,
        .left = 0,
        .inside = 26,
        .words = 13,
        .strip = 4,
        .band = 5,
        .looped = 1,
        .room = 28,
        .numbers = 68,
        .shift = 5,
        .bytes = 1,
        .filters = 1,
    };
    edgec_depthwise_dsp((const int8_t *)x, (int8_t *)y, scratch, params, &layer);
}
