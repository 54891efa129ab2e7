/* PRelu of codes [25, 8]. */
static void prelu_codes_s8_0(const int8_t *x, int8_t *y, const edgec_prelu_codes_params_t *params)
{
    enum {
        PIXELS = 25,
        CHANNELS = 8,
        LEFT = 1,
        RIGHT = 0,
        BELOW_LEFT = 0,
        BELOW_RIGHT = 5,
    };
    const edgec_prelu_codes_params_t p = *params;
    for (int32_t pixel = 0; pixel < PIXELS; pixel++) {
        for (int32_t c = 0; c < CHANNELS; c++) {
            const int32_t value = x[pixel * CHANNELS + c] - p.x_zero_point;
            const int32_t scaled =
                (value >= 0)
                    ? edgec_twice(value, p.multiplier, LEFT, RIGHT)
                    : edgec_twice(value * p.slope[c], p.below_multiplier, BELOW_LEFT, BELOW_RIGHT);
            y[pixel * CHANNELS + c] =
                edgec_clamp_s8(p.y_zero_point + scaled, p.act_min, p.act_max);
        }
    }
}
