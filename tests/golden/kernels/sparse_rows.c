/* Matrix product [4, 300] by [10, 300], without weights that are zero. */
EDGEC_SEPARATE void sparse_rows_s8_0(const int8_t *x, int8_t *y, const edgec_conv_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 300,
        UNITS = 10,
        FIRST_COUNT = 360,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    for (int32_t r = 0; r < ROWS; r++) {
        const int8_t *const row = x + r * DEPTH;
        const edgec_two_weights_t *word = (const edgec_two_weights_t *)(const void *)p.weights;
        const uint8_t *count = (const uint8_t *)p.weights + FIRST_COUNT;
        for (int32_t o = 0; o < UNITS; o++) {
            int32_t sum = p.bias[o];
            for (int32_t i = 0; i < DEPTH; i += EDGEC_SPARSE_COLUMNS) {
                sum = edgec_sparse_sum_s8(row + i, word, *count, sum);
                word += *count++;
            }
            const int8_t value = edgec_requantize_s8(sum, p.multiplier[o], SHIFT,
                                                     p.y_zero_point, p.act_min, p.act_max);
            y[r * UNITS + o] = value;
        }
    }
}
