/* div of int8, int8 to int8, 24 elements. */
static void div_s8_0(const int8_t *a, const int8_t *b, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (int8_t)edgec_div(a[i0 * 4 + i1], b[i0 * 0 + i1], -3, 5, 1048576, 0, 22, -128, -128, 127);
            n++;
        }
    }
}
