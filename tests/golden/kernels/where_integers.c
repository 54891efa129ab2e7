/* Choice between two tensors of int32, 24 elements. */
static void where_s8_0(const edgec_s32_t *condition, const edgec_s32_t *a, const edgec_s32_t *b, edgec_s32_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 24; i0++) {
        const int32_t chosen = condition[i0];
        y[n] = (chosen != 0) ? a[i0 * 0] : b[i0];
        n++;
    }
}
