/* mul of int16, int16 to int16, 24 elements. */
static void mul_s16_0(const edgec_s16_t *a, const edgec_s16_t *b, edgec_s16_t *y, const edgec_mul_params_t *params)
{
    const edgec_mul_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (edgec_s16_t)edgec_mul_twice_any(a[i0 * 4 + i1], b[i0 * 0 + i1], &p, 0, 7);
            n++;
        }
    }
}
