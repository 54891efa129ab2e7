/* equal of int32, int32 to int32, 24 elements. */
static void equal_s32_0(const edgec_s32_t *a, const edgec_s32_t *b, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        y[n] = (edgec_s32_t)edgec_equal(a[i0], b[i0], 1, 1, 0);
        n++;
    }
}
