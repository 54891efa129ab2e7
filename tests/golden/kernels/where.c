/* Choice between two tensors of int8, 12 elements. */
static void where_s8_0(const edgec_s32_t *condition, const int8_t *a, const int8_t *b, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t chosen = condition[i0 * 4 + i1];
            y[n] = (chosen != 0) ? a[i0 * 0 + i1] : b[i0 * 4 + i1];
            n++;
        }
    }
}
