/* Copy of the value of a turn in runs of 8 bytes. */
static void stack_turn_s8_0(const int8_t *x, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        memcpy(y + i0 * 40, x + n, 8U);
        n += 8;
    }
}
