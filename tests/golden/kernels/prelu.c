/* PRelu [25, 8]. */
static void prelu_s8_0(const int8_t *x, int8_t *y, const edgec_prelu_params_t *params)
{
    enum { PIXELS = 25, CHANNELS = 8, SHIFT = 32 };
    const edgec_prelu_params_t p = *params;
    for (int32_t pixel = 0; pixel < PIXELS; pixel++) {
        for (int32_t c = 0; c < CHANNELS; c++) {
            const int32_t value = x[pixel * CHANNELS + c] - p.x_zero_point;
            const int32_t multiplier = (value >= 0) ? p.multiplier : p.slope_multiplier[c];
            y[pixel * CHANNELS + c] = edgec_requantize_s8(value, multiplier, SHIFT, p.y_zero_point,
                                                          p.act_min, p.act_max);
        }
    }
}
