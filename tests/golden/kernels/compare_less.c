/* Less of two tensors of int8, 24 elements. */
static void compare_s8_0(const int8_t *a, const int8_t *b, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t left = a[i0 * 4 + i1];
            const int32_t right = b[i0 * 0 + i1];
            y[n] = (left * 2097152 < right * 77 + (-99)) ? 1 : 0;
            n++;
        }
    }
}
