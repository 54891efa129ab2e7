/* Depthwise convolution [7, 1, 12] to [3, 1, 12], 5x1 window, stride 1x1, four channels of a pixel at a time. */
EDGEC_SEPARATE void depthwise_line_s8_m0_s8_0(const int8_t *x, int8_t *y, const edgec_twice_params_t *params)
{
    enum {
        CHANNELS = 12,
        OUT_HEIGHT = 3,
        OUT_WIDTH = 1,
        TAPS = 5,
        STEP = 12,
        ROW = 12,
        COLUMN = 12,
    };
    const edgec_twice_params_t p = *params;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int8_t *const from = x + oy * ROW + ox * COLUMN;
            for (int32_t c = 0; c < CHANNELS; c += EDGEC_DEPTHWISE_LINE_M0_CHANNELS) {
                int32_t sums[EDGEC_DEPTHWISE_LINE_M0_CHANNELS] = {p.bias[c], p.bias[c + 1], p.bias[c + 2], p.bias[c + 3]};
                edgec_depthwise_line_m0(from + c, p.weights + c * TAPS, STEP, TAPS, sums);
                for (int32_t j = 0; j < EDGEC_DEPTHWISE_LINE_M0_CHANNELS; j++) {
                    y[c + j] = edgec_requantize_twice_s8(sums[j], p.multiplier[c + j], p.offset[c + j], p.shift[c + j], INT8_MIN, INT8_MAX);
                }
            }
            y += CHANNELS;
        }
    }
}
