/* Sum of 25 elements of int16, 8 times. */
static void rescale16_reduce_s8_0(const edgec_s16_t *x, int8_t *y, const edgec_single_params_t *params)
{
    enum { PRE_SHIFT = 3, SHIFT = 9, LOW = -127, HIGH = 127 };
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 8; i0++) {
        const edgec_s16_t *const from = x + i0;
        int32_t acc = p.bias;
        for (int32_t j0 = 0; j0 < 25; j0++) {
            acc += from[j0 * 8] - p.a_zero_point;
        }
        y[n] = (int8_t)edgec_limit(edgec_rescale(acc, p.multiplier, PRE_SHIFT, SHIFT), LOW, HIGH);
        n++;
    }
}
