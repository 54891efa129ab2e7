/* Difference of two tensors in fine steps, 24 elements. */
static void add20_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_add20_params_t *params)
{
    enum { A_RIGHT = 1, B_RIGHT = 0, RIGHT = 20 };
    const edgec_add20_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        const int32_t fine_a =
            edgec_fine20(a[i0] - p.a_zero_point, p.a_multiplier, A_RIGHT);
        const int32_t fine_b =
            edgec_fine20(b[i0] - p.b_zero_point, p.b_multiplier, B_RIGHT);
        const int32_t total = fine_a - fine_b;
        const int32_t scaled = edgec_twice(total, p.y_multiplier, 0, RIGHT);
        y[n] = edgec_clamp_s8(p.y_zero_point + scaled, p.act_min, p.act_max);
        n++;
    }
}
