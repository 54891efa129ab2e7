/* Matrix product [4, 16] by [10, 16]. */
EDGEC_SEPARATE void gemm_s8_0(const int8_t *x, int8_t *y, const edgec_twice_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 16,
        UNITS = 10,
        BLOCK = 4,
        REST = 2,
    };
    const edgec_twice_params_t p = *params;
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
                y[first + o + j] = edgec_requantize_twice_s8(acc[j], p.multiplier[o + j], p.offset[o + j], p.shift[o + j], INT8_MIN, INT8_MAX);
            }
        }
        {
            const int8_t *const w = p.weights + o * DEPTH;
            int32_t sum0 = p.bias[o + 0];
            int32_t sum1 = p.bias[o + 1];
            for (int32_t i = 0; i < DEPTH; i++) {
                const int32_t value = row[i];
                sum0 += value * w[0 * DEPTH + i];
                sum1 += value * w[1 * DEPTH + i];
            }
            const int32_t acc[2] = {sum0, sum1};
            for (int32_t j = 0; j < 2; j++) {
                y[first + o + j] = edgec_requantize_twice_s8(acc[j], p.multiplier[o + j], p.offset[o + j], p.shift[o + j], INT8_MIN, INT8_MAX);
            }
        }
    }
}
