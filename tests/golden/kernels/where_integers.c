/* where of int32, int32, int32 to int32, 12 elements. */
static void where_s32_0(const edgec_s32_t *a, const edgec_s32_t *b, const edgec_s32_t *c, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (edgec_s32_t)edgec_where(a[i0 * 4 + i1], b[i0 * 0 + i1], c[i0 * 4 + i1]);
            n++;
        }
    }
}
