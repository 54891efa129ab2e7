/* scale of int16 to int16, 100 elements. */
static void scale_s16_0(const edgec_s16_t *a, edgec_s16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (edgec_s16_t)edgec_scale_twice_any(a[i0], 0, 1573741824, 14, 0, 0, -32768, 32767);
        n++;
    }
}
