/* Logarithm of softmax over the last axis of [2, 10]. */
static void log_softmax_s8_0(const int8_t *x, int8_t *y, const edgec_log_softmax_params_t *params)
{
    enum { ROWS = 2, DEPTH = 10, SHIFT = 20, TABLE_BITS = 26 };
    const edgec_log_softmax_params_t p = *params;
    for (int32_t r = 0; r < ROWS; r++) {
        const int8_t *const from = x + r * DEPTH;
        int32_t largest = INT8_MIN;
        for (int32_t i = 0; i < DEPTH; i++) {
            largest = edgec_max_s32(largest, from[i]);
        }
        int32_t sum = 0;
        for (int32_t i = 0; i < DEPTH; i++) {
            sum += p.table[largest - from[i]];
        }
        const int32_t logarithm = edgec_log2_q16((uint32_t)sum) - TABLE_BITS * 65536;
        const int32_t summand =
            (int32_t)edgec_rshr64((int64_t)logarithm * p.log_multiplier, 16);
        for (int32_t i = 0; i < DEPTH; i++) {
            const int32_t term = (from[i] - largest) * p.multiplier - summand;
            y[r * DEPTH + i] = (int8_t)edgec_clamp_s32(
                p.y_zero_point + edgec_rshr32(term, SHIFT), p.act_min, p.act_max);
        }
    }
}
