/* line of int16 to int8, 100 elements. */
static void line_s16_s8_0(const edgec_s16_t *a, const int16_t *table, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (int8_t)edgec_line(a[i0], table, 14, -128, -128, 127);
        n++;
    }
}
