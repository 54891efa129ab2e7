/* where of int32, int8, int8 to int8, 12 elements. */
static void where_s32_s8_s8_s8_0(const edgec_s32_t *a, const int8_t *b, const int8_t *c, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (int8_t)edgec_where(a[i0 * 4 + i1], b[i0 * 0 + i1], c[i0 * 4 + i1]);
            n++;
        }
    }
}
