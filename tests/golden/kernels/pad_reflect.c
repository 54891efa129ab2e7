/* Padding (reflect) to [5, 6] runs of 8 bytes. */
static void pad_s8_0(const int8_t *x, int8_t *y)
{
    enum { RUN = 8 };
    for (int32_t i0 = 0; i0 < 5; i0++) {
        const int32_t d0 = (i0 < 1) ? 1 - i0 : i0 - 1;
        const int32_t s0 = (d0 < 3) ? d0 : 2 * 3 - 2 - d0;
        const int32_t from0 = s0;
        for (int32_t i1 = 0; i1 < 6; i1++) {
            const int32_t d1 = (i1 < 2) ? 2 - i1 : i1 - 2;
            const int32_t s1 = (d1 < 4) ? d1 : 2 * 4 - 2 - d1;
            const int32_t from1 = from0 * 4 + s1;
            memmove(y, x + from1 * RUN, (size_t)RUN);
            y += RUN;
        }
    }
}
