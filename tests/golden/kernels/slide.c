/* Window of 96 bytes that moves on by 8. */
static void slide_s8_0(const int8_t *x, const int8_t *rows, int8_t *y)
{
    for (int32_t i = 0; i < 1; i++) {
        memmove(y, x + 8, 88U);
        memmove(y + 88, rows, 8U);
        x += 96;
        rows += 8;
        y += 96;
    }
}
