/* squared of int8, int8 to int8, 24 elements. */
static void squared_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_tflite_sum_params_t *params)
{
    const edgec_tflite_sum_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (int8_t)edgec_squared_difference(a[i0 * 4 + i1], b[i0 * 0 + i1], &p, 7, 0, 2, 9);
            n++;
        }
    }
}
