/* Product of tensors of int8 and int16, 24 elements. */
static void mixed_mul_s8_0(const int8_t *a, const int16_t *b, int16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t product = (a[i0 * 4 + i1] - -5) *
                                    (b[i0 * 0 + i1] - 0);
            const int32_t scaled = edgec_requantize(product, 20132659, 32);
            y[n] = (int16_t)edgec_clamp_s32(
                scaled + 0, -32767, 32767);
            n++;
        }
    }
}
