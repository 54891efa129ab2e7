/* ReduceL2 of 8 elements, 4 times. */
static void reduce_norm_s8_0(const int8_t *x, int8_t *y, const edgec_reduce_params_t *params)
{
    const edgec_reduce_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 4; i0++) {
        const int8_t *const from = x + i0 * 8;
        int32_t acc = 0;
        for (int32_t j0 = 0; j0 < 8; j0++) {
            const int32_t term = from[j0] - p.x_zero_point;
            acc += term * term;
        }
        acc = (int32_t)edgec_root_u32((uint32_t)acc << 12);
        y[n] = edgec_requantize_s8(acc, p.multiplier, 31, p.y_zero_point, p.act_min, p.act_max);
        n++;
    }
}
