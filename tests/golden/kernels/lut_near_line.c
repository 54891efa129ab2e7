/* near of int16 to int16, 100 elements. */
static void near_s16_0(const edgec_s16_t *a, const int16_t *table, edgec_s16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (edgec_s16_t)edgec_near_line(a[i0], table, 3, 7, 0, -32767, 32767);
        n++;
    }
}
