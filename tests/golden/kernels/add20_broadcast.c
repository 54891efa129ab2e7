/* Sum of two tensors in fine steps, 24 elements. */
static void add20_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_add20_params_t *params)
{
    enum { A_RIGHT = 0, B_RIGHT = 2, RIGHT = 18 };
    const edgec_add20_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t fine_a =
                edgec_fine20(a[i0 * 4 + i1] - p.a_zero_point, p.a_multiplier, A_RIGHT);
            const int32_t fine_b =
                edgec_fine20(b[i0 * 0 + i1] - p.b_zero_point, p.b_multiplier, B_RIGHT);
            const int32_t total = fine_a + fine_b;
            const int32_t scaled = edgec_twice(total, p.y_multiplier, 0, RIGHT);
            y[n] = edgec_clamp_s8(p.y_zero_point + scaled, p.act_min, p.act_max);
            n++;
        }
    }
}
