/* Rescaling of 100 elements from int16. */
static void rescale_s8_0(const edgec_s16_t *x, int8_t *y, const edgec_single_params_t *params)
{
    enum { PRE_SHIFT = 3, SHIFT = 9, LOW = -127, HIGH = 127 };
    const edgec_single_params_t p = *params;
    for (int32_t i = 0; i < 100; i++) {
        y[i] = (int8_t)edgec_limit(edgec_rescale(x[i] + p.bias, p.multiplier, PRE_SHIFT, SHIFT), LOW, HIGH);
    }
}
