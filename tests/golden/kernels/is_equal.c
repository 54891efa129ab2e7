/* Comparison of 9 integers with 1. */
static void is_equal_s8_0(const edgec_s32_t *x, edgec_s32_t *y)
{
    for (int32_t i = 0; i < 9; i++) {
        y[i] = (x[i] == 1) ? 1 : 0;
    }
}
