/* Chain to int16, 24 elements: interpolated table, product, sum. */
static void chain3_add_s16_0(const edgec_s16_t *x0, const int8_t *x1, const int16_t *table0, edgec_s16_t *y, const edgec_mul_params_t *params0, const edgec_add_params_t *params1)
{
    const edgec_mul_params_t p0 = *params0;
    const edgec_add_params_t p1 = *params1;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        const int32_t e0 = x0[i0];
        const int32_t e1 = x1[i0];
        const int32_t v0 = edgec_line_inside(e0, table0, 7, 0);
        const int32_t v1 = edgec_mul_once(v0, e1, &p0, 32);
        y[n] = (edgec_s16_t)edgec_add_once(v1, v1, &p1, 15);
        n++;
    }
}
