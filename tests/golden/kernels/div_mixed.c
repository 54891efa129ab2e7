/* div of int8, int16 to int16, 24 elements. */
static void div_s8_s16_s16_0(const int8_t *a, const edgec_s16_t *b, edgec_s16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (edgec_s16_t)edgec_div(a[i0 * 4 + i1], b[i0 * 0 + i1], -5, 0, 40000, 3, 0, 0, -32767, 32767);
            n++;
        }
    }
}
