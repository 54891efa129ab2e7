/* ReduceL1 of 8 elements of int8, 4 times. */
static void reduce_s8_0(const int8_t *x, int8_t *y, const edgec_single_params_t *params)
{
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 4; i0++) {
        const int8_t *const from = x + i0 * 8;
        int32_t acc = 0;
        for (int32_t j0 = 0; j0 < 8; j0++) {
            const int32_t term = from[j0] - p.a_zero_point;
            acc += (term < 0) ? -term : term;
        }
        y[n] = edgec_requantize_s8(acc, p.multiplier, 30, p.y_zero_point, -128, 127);
        n++;
    }
}
