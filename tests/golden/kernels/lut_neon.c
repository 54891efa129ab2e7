/* Table look-up, 100 elements. */
static void lut_neon_s8_0(const int8_t *x, const int8_t *table, int8_t *y)
{
    const edgec_neon_table_t whole = edgec_neon_table(table);
    int32_t i = 0;
    for (; i <= 100 - 16; i += 16) {
        vst1q_s8(y + i, edgec_neon_lut(&whole, vld1q_s8(x + i)));
    }
    for (; i < 100; i++) {
        y[i] = table[x[i] + 128];
    }
}
