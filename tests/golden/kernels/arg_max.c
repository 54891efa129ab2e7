/* Index of the first maximum over 10, 1 times. */
static void arg_max_s8_0(const int8_t *x, int8_t *y)
{
    enum { OUTER = 1, DEPTH = 10, INNER = 1 };
    for (int32_t o = 0; o < OUTER; o++) {
        for (int32_t n = 0; n < INNER; n++) {
            const int8_t *const from = x + o * (DEPTH * INNER) + n;
            int32_t best = 0;
            for (int32_t i = 1; i < DEPTH; i++) {
                if (from[i * INNER] > from[best * INNER]) {
                    best = i;
                }
            }
            memcpy(y, &best, sizeof best);
            y += sizeof best;
        }
    }
}
