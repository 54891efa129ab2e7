/* Matrix product [4, 32] by [32, 32]. */
EDGEC_SEPARATE void packed_filters_s8_0_part(const int8_t *x, int8_t *y, const edgec_conv_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 32,
        UNITS = 32,
        BLOCK = 4,
        REST = 0,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    for (int32_t r = 0; r < ROWS; r++) {
        const int8_t *const row = x + r * DEPTH;
        const int32_t first = r * UNITS;
        int32_t o = 0;
        for (; o < UNITS - REST; o += BLOCK) {
            const int8_t *const w = p.weights + o * DEPTH;
            int32_t sum0 = p.bias[o + 0];
            int32_t sum1 = p.bias[o + 1];
            int32_t sum2 = p.bias[o + 2];
            int32_t sum3 = p.bias[o + 3];
            for (int32_t i = 0; i < DEPTH; i++) {
                const int32_t value = row[i];
                sum0 += value * w[0 * DEPTH + i];
                sum1 += value * w[1 * DEPTH + i];
                sum2 += value * w[2 * DEPTH + i];
                sum3 += value * w[3 * DEPTH + i];
            }
            const int32_t acc[4] = {sum0, sum1, sum2, sum3};
            for (int32_t j = 0; j < 4; j++) {
                const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                         p.y_zero_point, p.act_min, p.act_max);
                y[first + o + j] = value;
            }
        }
    }
}

/* Matrix product [4, 32] by [32, 32], 32 filters of 4 bits unpacked at a time. */
EDGEC_SEPARATE void packed_filters_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    edgec_conv_params_t part = *params;
    uint32_t *const weights = (uint32_t *)(void *)(scratch + 0);
    part.weights = (const int8_t *)weights;
    edgec_unpack4(params->weights, weights, 128, 0U);
    packed_filters_s8_0_part(x, y, &part);
}
