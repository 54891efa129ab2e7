/* Rescaling of 100 elements, int16 to int8. */
static void wide_rescale_s8_0(const int16_t *x, int8_t *y)
{
    for (int32_t i = 0; i < 100; i++) {
        const int32_t scaled = edgec_scaled_twice(x[i] - 0, 1573741824, -8);
        y[i] = (int8_t)edgec_clamp_s32(
            scaled + -7, -128, 127);
    }
}
