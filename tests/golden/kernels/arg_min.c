/* Index of the last minimum over 7, 6 times. */
static void arg_max_s8_0(const int8_t *x, int8_t *y)
{
    enum { OUTER = 2, DEPTH = 7, INNER = 3 };
    for (int32_t o = 0; o < OUTER; o++) {
        for (int32_t n = 0; n < INNER; n++) {
            const int8_t *const from = x + o * (DEPTH * INNER) + n;
            int32_t best = 0;
            for (int32_t i = 1; i < DEPTH; i++) {
                if (from[i * INNER] <= from[best * INNER]) {
                    best = i;
                }
            }
            memcpy(y, &best, sizeof best);
            y += sizeof best;
        }
    }
}
