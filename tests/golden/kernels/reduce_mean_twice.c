/* ReduceMean of 25 elements, 8 times. */
static void reduce_s8_0(const int8_t *x, int8_t *y, const edgec_reduce_params_t *params)
{
    const edgec_reduce_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 8; i0++) {
        const int8_t *const from = x + i0;
        int32_t acc = -(25 * p.x_zero_point);
        for (int32_t j0 = 0; j0 < 25; j0++) {
            acc += from[j0 * 8];
        }
        const int32_t scaled = edgec_twice(acc, p.multiplier, 1, 5);
        y[n] = edgec_clamp_s8(p.y_zero_point + scaled, p.act_min, p.act_max);
        n++;
    }
}
