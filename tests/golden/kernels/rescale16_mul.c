/* Product of two tensors, 24 elements. */
static void rescale16_mul_s8_0(const int8_t *a, const int8_t *b, edgec_s16_t *y, const edgec_single_params_t *params)
{
    enum { PRE_SHIFT = 0, SHIFT = 9, LOW = -32768, HIGH = 32767 };
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t product = (a[i0 * 4 + i1] - p.a_zero_point) *
                                    (b[i0 * 0 + i1] - p.b_zero_point);
            y[n] = (edgec_s16_t)edgec_limit(edgec_rescale(product + p.bias, p.multiplier, PRE_SHIFT, SHIFT), LOW, HIGH);
            n++;
        }
    }
}
