/* Chain to int16, 64 elements: interpolated table. */
static void lut_s16_neon_0(const edgec_s16_t *x0, const int16_t *table0, edgec_s16_t *y)
{
    int32_t n = 0;
    const edgec_s16_t *const from0 = x0 + 0;
    int32_t i = 0;
    for (; i <= 64 - 8; i += 8) {
        const int16x8_t e0 = edgec_neon_load8_s16(from0 + i);
        const int16x8_t v0 = edgec_eight_line_inside(e0, table0, 10, 0);
        edgec_neon_store8_s16(y + n, v0);
        n += 8;
    }
}
