/* Strided copy of 24 bytes in runs of 4. */
static void strided_copy_s8_0(const int8_t *x, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        for (int32_t i1 = 0; i1 < 2; i1++) {
            const int32_t from = 2 + i0 * 8 + i1 * -4;
            memmove(y + n, x + from, 4U);
            n += 4;
        }
    }
}
