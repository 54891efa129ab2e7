/* Dot products of [5, 8] of int16 with 12 filters, 4 groups. */
EDGEC_SEPARATE void window_dot_s8_0(const int16_t *x, int8_t *y, const edgec_window_dot_params_t *params)
{
    enum {
        ROWS = 2,
        TAPS = 5,
        CHANNELS = 8,
        UNITS = 12,
        GROUPS = 4,
        DEPTH = 2,
        EACH = 3,
    };
    const edgec_window_dot_params_t p = *params;
    for (int32_t r = 0; r < ROWS; r++) {
        const int16_t *const row = x + r * (TAPS * CHANNELS);
        const int16_t *w = p.weights;
        for (int32_t g = 0; g < GROUPS; g++) {
            for (int32_t o = g * EACH; o < (g + 1) * EACH; o++) {
                const int16_t *from = row + g * DEPTH;
                int64_t sum = p.bias[o];
                for (int32_t t = 0; t < TAPS; t++) {
                    for (int32_t i = 0; i < DEPTH; i++) {
                        sum += from[i] * w[i];
                    }
                    from += CHANNELS;
                    w += DEPTH;
                }
                const int32_t acc = edgec_saturated_s32(sum);
                y[r * UNITS + o] = edgec_twice_any_s8(acc, p.multiplier, 0, 17, 3, -128, 127);
            }
        }
    }
}
