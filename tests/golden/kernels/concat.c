/* Concatenation of 2 tensors, 9 times. */
static void concat_s8_0(const int8_t *x0, const int8_t *x1, int8_t *y)
{
    for (int32_t i = 0; i < 9; i++) {
        memmove(y, x0 + i * 8, 8U);
        y += 8;
        memmove(y, x1 + i * 4, 4U);
        y += 4;
    }
}
