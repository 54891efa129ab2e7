/* Difference of two int16 tensors, 24 elements. */
static void wide_add_s8_0(const int16_t *a, const int16_t *b, int16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t fine_a = edgec_scaled_twice(a[i0 * 4 + i1] * ((int32_t)1 << 15), 1571329543, -1);
            const int32_t fine_b = edgec_scaled_twice(b[i0 * 0 + i1] * ((int32_t)1 << 15), 1073741824, 0);
            const int32_t total = edgec_scaled_twice(fine_a - fine_b, 1760936541, -14);
            y[n] = (int16_t)edgec_clamp_s32(total, 0, 32767);
            n++;
        }
    }
}
