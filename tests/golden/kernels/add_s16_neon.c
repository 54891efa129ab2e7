/* Sum of two int16 tensors, 100 elements. */
static void add_s16_neon_s8_0(const edgec_s16_t *a, const edgec_s16_t *b, edgec_s16_t *y)
{
    int32_t i = 0;
    for (; i <= 100 - 8; i += 8) {
        edgec_neon_add8_s16(a + i, b + i, y + i);
    }
    for (; i < 100; i++) {
        y[i] = (edgec_s16_t)edgec_sat16(a[i] + b[i]);
    }
}
