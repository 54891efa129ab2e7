/* scale of int16 to int8, 100 elements. */
static void scale_s16_s8_0(const edgec_s16_t *a, int8_t *y, const edgec_single_params_t *params)
{
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (int8_t)edgec_scale_rescale16(a[i0], &p, 3, 9, -127, 127);
        n++;
    }
}
