/* Codes of 24 integers. */
static void from_integer_s8_0(const edgec_s32_t *x, int8_t *y)
{
    for (int32_t i = 0; i < 24; i++) {
        y[i] = edgec_requantize_s8(x[i], 1073741824, 32, -5, -128, 127);
    }
}
