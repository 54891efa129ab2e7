/* less of int16, int8 to int32, 24 elements. */
static void less_s16_s8_s32_0(const edgec_s16_t *a, const int8_t *b, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (edgec_s32_t)edgec_less_or_equal(a[i0 * 4 + i1], b[i0 * 0 + i1], 8192, 77, -99);
            n++;
        }
    }
}
