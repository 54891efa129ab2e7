/* Product of two tensors, 24 elements. */
static void mul_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_mul_params_t *params)
{
    const edgec_mul_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t product = (a[i0 * 4 + i1] - p.a_zero_point) *
                                    (b[i0 * 0 + i1] - p.b_zero_point);
            const int32_t scaled = edgec_twice(product, p.multiplier, 0, 7);
            y[n] = edgec_clamp_s8(p.y_zero_point + scaled, p.act_min, p.act_max);
            n++;
        }
    }
}
