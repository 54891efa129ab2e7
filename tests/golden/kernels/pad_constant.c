/* Padding (constant) to [5] runs of 8 bytes. */
static void pad_s8_0(const int8_t *x, int8_t *y)
{
    enum { RUN = 8 };
    for (int32_t i0 = 0; i0 < 5; i0++) {
        const int32_t s0 = i0 - 1;
        const bool inside0 = s0 >= 0 && s0 < 3;
        const int32_t from0 = s0;
        if (inside0) {
            memmove(y, x + from0 * RUN, (size_t)RUN);
        } else {
            memset(y, -7, (size_t)RUN);
        }
        y += RUN;
    }
}
