#ifndef EDGEC_DEPTHWISE_DSP_offset_5x5_1_6_2_s16_even
#define EDGEC_DEPTHWISE_DSP_offset_5x5_1_6_2_s16_even
EDGEC_DEPTHWISE_DSP_ROWS(edgec_depthwise_dsp_offset_5x5_1_6_2_s16_even, 5, 5, 0, 1, 6, 2, 0, 0, 0, -32767)
#endif

/* Depthwise convolution [9, 9, 16] to [9, 9, 16], 5x5 window, stride 1x1, some sums of a row at a time. */
static void depthwise_s16_dsp_s8_0(const int16_t *x, int16_t *y, int8_t *scratch, const edgec_residual_params_t *params)
{
    static const edgec_depthwise_dsp_layer_t layer = {
        .rows = edgec_depthwise_dsp_offset_5x5_1_6_2_s16_even,
        .unpack = edgec_depthwise_dsp_unpack_s16,
        .height = 9,
        .width = 9,
        .channels = 16,
        .out_height = 9,
        .out_width = 9,
        .taps = 5,
        .stride = 1,
        .dilation = 1,
        .above = 2,
        .left = 2,
        .inside = 9,
        .words = 8,
        .strip = 9,
        .band = 3,
        .looped = 0,
        .room = 0,
        .numbers = 40,
        .shift = 2,
        .bytes = 2,
        .filters = 1,
    };
    edgec_depthwise_dsp((const int8_t *)x, (int8_t *)y, scratch, params, &layer);
}
