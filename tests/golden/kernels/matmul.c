/* 3 matrix products [4, 5] by 6 columns, int8 and int8 to int8. */
static void matmul_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_single_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 5,
        COLUMNS = 6,
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
                y[n] = edgec_rescale_s8(acc, p.multiplier, 3, 9, -127, 127);
                n++;
            }
        }
    }
}
