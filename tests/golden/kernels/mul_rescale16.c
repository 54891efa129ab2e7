/* mul of int8, int8 to int16, 24 elements. */
static void mul_s8_s8_s16_0(const int8_t *a, const int8_t *b, edgec_s16_t *y, const edgec_single_params_t *params, int32_t rows)
{
    const edgec_single_params_t p = *params;
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < rows; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            y[n] = (edgec_s16_t)edgec_mul_rescale16(a[i0 * 4 + i1], b[i0 * 0 + i1], &p, 0, 9, -32768, 32767);
            n++;
        }
    }
}
