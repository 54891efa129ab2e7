/* scale of int8, int8 to int8, 200 elements. */
static void scale_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_single_params_t *params)
{
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 25; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            y[n] = (int8_t)edgec_scale_after(a[i0 * 8 + i1], b[i0 * 0 + i1], &p, 3, 9, -127, 127);
            n++;
        }
    }
}
