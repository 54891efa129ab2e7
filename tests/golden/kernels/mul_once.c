/* mul of int8, int8 to int8, 24 elements. */
static void mul_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_mul_params_t *params)
{
    const edgec_mul_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        y[n] = (int8_t)edgec_mul_once(a[i0], b[i0], &p, 32);
        n++;
    }
}
