/* 3 matrix products [4, 5] by 6 columns, int16 and int8 to int16. */
static void mixed_matmul_s8_0(const int16_t *a, const int8_t *b, int16_t *y)
{
    enum {
        ROWS = 4,
        DEPTH = 5,
        COLUMNS = 6,
    };
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        const int16_t *const left = a + i0 * 20;
        const int8_t *const right = b + i0 * 0;
        for (int32_t row = 0; row < ROWS; row++) {
            for (int32_t column = 0; column < COLUMNS; column++) {
                const int16_t *const from_a = left + row * 5;
                const int8_t *const from_b = right + column * 5;
                int32_t acc = 0;
                for (int32_t d = 0; d < DEPTH; d++) {
                    acc += (from_a[d * 1] - 0) *
                           (from_b[d * 1] - 3);
                }
                const int32_t scaled = edgec_requantize(acc, 20132659, 36);
                y[n] = (int16_t)edgec_clamp_s32(
                    scaled + 0, -32767, 32767);
                n++;
            }
        }
    }
}
