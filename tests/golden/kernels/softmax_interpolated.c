/* Softmax of int16 over the last axis of [3, 10]. */
static void softmax_s8_0(const int16_t *x, const int16_t *exponentials, const int16_t *reciprocals, int16_t *y)
{
    enum { DEPTH = 10 };
    for (int32_t r = 0; r < 3; r++) {
        const int16_t *const from = x + r * DEPTH;
        int16_t *const to = y + r * DEPTH;
        int32_t largest = INT16_MIN;
        for (int32_t i = 0; i < DEPTH; i++) {
            largest = edgec_max_s32(largest, from[i]);
        }
        int32_t sum = 0;
        for (int32_t i = 0; i < DEPTH; i++) {
            const int32_t distance = edgec_scaled_twice(from[i] - largest, 1288490189, 2);
            to[i] = (int16_t)edgec_wide_lookup(exponentials, distance + INT16_MAX);
            sum += to[i];
        }
        const int32_t bits = edgec_wide_bits((uint32_t)sum);
        const int64_t whole = (int64_t)sum * ((int64_t)1 << (31 - bits));
        const int32_t fraction = (int32_t)edgec_rshr64(whole, 14) - ((int32_t)1 << 15) - ((int32_t)1 << 16);
        const int32_t inverse = edgec_wide_lookup(reciprocals, fraction);
        for (int32_t i = 0; i < DEPTH; i++) {
            const int32_t share = edgec_rshr32(to[i] * inverse, bits - 1);
            to[i] = (int16_t)edgec_clamp_s32(share, 0, INT16_MAX);
        }
    }
}
