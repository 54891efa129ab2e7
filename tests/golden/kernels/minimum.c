/* min of int16, int16 to int16, 24 elements. */
static void min_s16_0(const edgec_s16_t *a, const edgec_s16_t *b, edgec_s16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        y[n] = (edgec_s16_t)edgec_min_s32(a[i0], b[i0]);
        n++;
    }
}
