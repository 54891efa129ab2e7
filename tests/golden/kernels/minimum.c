/* Smaller of two tensors, 24 elements. */
static void extremum_s8_0(const int8_t *a, const int8_t *b, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        y[n] = (int8_t)edgec_min_s32(a[i0], b[i0]);
        n++;
    }
}
