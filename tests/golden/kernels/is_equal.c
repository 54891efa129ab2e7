/* is of int32 to int32, 100 elements. */
static void is_s32_0(const edgec_s32_t *a, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (edgec_s32_t)edgec_is_equal(a[i0], 1);
        n++;
    }
}
