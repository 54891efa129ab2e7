/* 3 matrix products [4, 5] by 6 columns. */
static void matmul_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_single_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 5,
        COLUMNS = 6,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -127, HIGH = 127
    };
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        const int8_t *const left = a + i0 * 20;
        const int8_t *const right = b + i0 * 0;
        for (int32_t row = 0; row < ROWS; row++) {
            for (int32_t column = 0; column < COLUMNS; column++) {
                const int8_t *const from_a = left + row * 5;
                const int8_t *const from_b = right + column * 5;
                int32_t acc = p.bias;
                for (int32_t d = 0; d < DEPTH; d++) {
                    acc += (from_a[d * 1] - p.a_zero_point) *
                           (from_b[d * 1] - p.b_zero_point);
                }
                y[n] = (int8_t)edgec_limit(edgec_rescale(acc, p.multiplier, PRE_SHIFT, SHIFT), LOW, HIGH);
                n++;
            }
        }
    }
}
