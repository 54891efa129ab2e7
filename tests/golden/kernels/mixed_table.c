/* Interpolated table of int16 to int8, 100 elements. */
static void mixed_table_s8_0(const int16_t *x, const int16_t *table, int8_t *y)
{
    for (int32_t i = 0; i < 100; i++) {
        const int32_t line = edgec_rshr32(edgec_mixed_line(table, x[i]), 14);
        y[i] = (int8_t)edgec_clamp_s32(
            line + -128, -128, 127);
    }
}
