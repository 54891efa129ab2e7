/* Equal of two tensors of int32, 24 elements. */
static void compare_s8_0(const edgec_s32_t *a, const edgec_s32_t *b, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        const int32_t left = a[i0];
        const int32_t right = b[i0];
        y[n] = (left == right) ? 1 : 0;
        n++;
    }
}
