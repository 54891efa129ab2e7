/* Quotient of two tensors, 24 elements. */
static void div_s8_0(const int8_t *a, const int8_t *b, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t steps = edgec_divided(a[i0 * 4 + i1] - (-3), b[i0 * 0 + i1] - (5), 1048576, 22);
            y[n] = (int8_t)edgec_clamp_s32(-128 + steps, -128, 127);
            n++;
        }
    }
}
