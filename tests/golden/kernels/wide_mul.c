/* Product of two int16 tensors, 24 elements. */
static void wide_mul_s8_0(const int16_t *a, const int16_t *b, int16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t product = (int32_t)a[i0 * 4 + i1] * b[i0 * 0 + i1];
            const int32_t scaled = edgec_scaled_twice(product, 1760936576, -14);
            y[n] = (int16_t)edgec_clamp_s32(scaled, -32768, 32767);
            n++;
        }
    }
}
