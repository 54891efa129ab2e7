/* Sum of tensors of int8 and int16, 24 elements. */
static void mixed_add_s8_0(const int8_t *a, const int16_t *b, int16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            const int32_t first = (a[i0 * 4 + i1] - -5) * 1048576;
            const int32_t second = (b[i0 * 0 + i1] - 0) * -524288;
            const int32_t sum = edgec_rshr32(first + second, 20);
            y[n] = (int16_t)edgec_clamp_s32(
                sum + 0, -32767, 32767);
            n++;
        }
    }
}
