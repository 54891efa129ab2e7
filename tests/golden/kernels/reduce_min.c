/* ReduceMin of 8 elements, 4 times. */
static void reduce_s8_0(const int8_t *x, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 4; i0++) {
        const int8_t *const from = x + i0 * 8;
        int32_t acc = INT8_MAX;
        for (int32_t j0 = 0; j0 < 8; j0++) {
            acc = edgec_min_s32(acc, from[j0]);
        }
        y[n] = (int8_t)acc;
        n++;
    }
}
