#ifndef EDGEC_DEPTHWISE_LINE_twice_29_1
#define EDGEC_DEPTHWISE_LINE_twice_29_1
EDGEC_DEPTHWISE_LINE(edgec_depthwise_line_twice_29_1, 29, 7, 1, 1, 2)
#endif

/* Depthwise convolution [31, 1, 10] to [3, 1, 10], 29x1 window, stride 1x1, four channels of a pixel at a time. */
static void depthwise_line_s8_dsp_s8_0(const int8_t *x, int8_t *y, const edgec_residual_params_t *params)
{
    static const edgec_depthwise_line_layer_t layer = {
        .fours = edgec_depthwise_line_twice_29_1,
        .step = 10,
        .back = -276,
        .row = 10,
        .column = 10,
        .bytes = 304,
        .channels = 10,
        .out_height = 3,
        .out_width = 1,
        .shift = 1,
    };
    edgec_depthwise_line(x, y, params, &layer);
}
