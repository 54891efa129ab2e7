/* Chain to int16, 100 elements: sum. */
static void add_s16_neon_0(const edgec_s16_t *x0, const edgec_s16_t *x1, edgec_s16_t *y)
{
    int32_t n = 0;
    const edgec_s16_t *const from0 = x0 + 0;
    const edgec_s16_t *const from1 = x1 + 0;
    int32_t i = 0;
    for (; i <= 100 - 8; i += 8) {
        const int16x8_t e0 = edgec_neon_load8_s16(from0 + i);
        const int16x8_t e1 = edgec_neon_load8_s16(from1 + i);
        const int16x8_t v0 = edgec_eight_add_codes(e0, e1, -32768, 32767);
        edgec_neon_store8_s16(y + n, v0);
        n += 8;
    }
    for (; i < 100; i++) {
        const int32_t e0 = from0[i];
        const int32_t e1 = from1[i];
        y[n] = (edgec_s16_t)edgec_add_codes(e0, e1, -32768, 32767);
        n++;
    }
}
