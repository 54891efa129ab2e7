/* Indices of the 3 smallest of 10 codes, 1 times. */
static void top_k_s8_0(const int8_t *x, edgec_s32_t *y)
{
    enum { ROWS = 1, DEPTH = 10, K = 3 };
    for (int32_t r = 0; r < ROWS; r++) {
        const int8_t *const from = x + r * DEPTH;
        int32_t last = -1;
        for (int32_t j = 0; j < K; j++) {
            int32_t best = -1;
            for (int32_t i = 0; i < DEPTH; i++) {
                /* Only what comes after the element found last. */
                const bool later = (last < 0) || (from[last] < from[i]) ||
                                   ((from[i] == from[last]) && (i > last));
                if (later && ((best < 0) || (from[i] < from[best]))) {
                    best = i;
                }
            }
            y[r * K + j] = best;
            last = best;
        }
    }
}
