/* Matrix product [4, 16] by [10, 16]. */
static void gemm_s8_0(const int8_t *x, int8_t *y, const edgec_conv_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 16,
        UNITS = 10,
        BLOCK = 2,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    for (int32_t r = 0; r < ROWS; r++) {
        const int8_t *const row = x + r * DEPTH;
        for (int32_t o = 0; o < UNITS; o += BLOCK) {
            const int8_t *const w = p.weights + o * DEPTH;
            int32_t sum0 = p.bias[o + 0];
            int32_t sum1 = p.bias[o + 1];
            for (int32_t i = 0; i < DEPTH; i++) {
                const int32_t value = row[i];
                sum0 += value * w[0 * DEPTH + i];
                sum1 += value * w[1 * DEPTH + i];
            }
            int32_t acc[BLOCK];
            acc[0] = sum0;
            acc[1] = sum1;
            const int32_t first = r * UNITS + o;
            for (int32_t j = 0; j < BLOCK; j++) {
                const int8_t value = edgec_requantize_s8(acc[j], p.multiplier[o + j], SHIFT,
                                                         p.y_zero_point, p.act_min, p.act_max);
                y[first + j] = value;
            }
        }
    }
}
