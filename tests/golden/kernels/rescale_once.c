/* scale of int32 to int8, 100 elements. */
static void scale_s32_s8_0(const edgec_s32_t *a, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (int8_t)edgec_scale_once(a[i0], 0, 1073741824, 32, -5, -128, 127);
        n++;
    }
}
