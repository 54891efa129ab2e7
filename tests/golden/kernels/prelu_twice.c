/* prelu of int8, int16 to int8, 200 elements. */
static void prelu_s8_s16_s8_0(const int8_t *a, const edgec_s16_t *b, int8_t *y, const edgec_prelu_params_t *params)
{
    const edgec_prelu_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 25; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            y[n] = (int8_t)edgec_prelu_twice(a[i0 * 8 + i1], b[i0 * 0 + i1], &p, 1, 0, 0, 5);
            n++;
        }
    }
}
