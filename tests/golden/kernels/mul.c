/* Product of two tensors, 24 elements. */
static void mul_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_mul_params_t *params)
{
    const edgec_mul_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        const int32_t product = (a[i0] - p.a_zero_point) *
                                (b[i0] - p.b_zero_point);
        y[n] = edgec_requantize_s8(product, p.multiplier, 32, p.y_zero_point, p.act_min,
                                   p.act_max);
        n++;
    }
}
