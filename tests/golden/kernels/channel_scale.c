/* Factors of channels [6, 8]. */
static void channel_scale_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum {
        PIXELS = 6,
        CHANNELS = 8,
        SHIFT = 32,
        RESIDUAL_SHIFT = 12,
    };
    const edgec_conv_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    int32_t i = 0;
    for (int32_t pixel = 0; pixel < PIXELS; pixel++) {
        for (int32_t c = 0; c < CHANNELS; c++, i++) {
            const int32_t element = x[i];
            const int32_t sum = p.bias[c] + element * p.weights[c];
            const int32_t acc = sum * 1;
            const int8_t value = edgec_requantize_s8(acc, p.multiplier[c], SHIFT,
                                                     p.y_zero_point, p.act_min, p.act_max);
            y[i] = edgec_add_s8(value, residual[i], &addition);
        }
    }
}
