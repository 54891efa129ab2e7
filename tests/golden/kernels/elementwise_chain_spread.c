/* Chain to int16, 12 elements: product, product. */
static void chain2_mul_s16_0(const int8_t *x0, const int8_t *x1, const int8_t *x2, edgec_s16_t *y, const edgec_mul_params_t *params0, const edgec_mul_params_t *params1)
{
    const edgec_mul_params_t p0 = *params0;
    const edgec_mul_params_t p1 = *params1;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t e0 = x0[i0 * 4 + i1];
            const int32_t e1 = x1[i0 * 0 + i1];
            const int32_t e2 = x2[i0 * 4 + i1];
            const int32_t v0 = edgec_mul_once(e0, e1, &p0, 32);
            y[n] = (edgec_s16_t)edgec_mul_once(v0, e2, &p1, 32);
            n++;
        }
    }
}
