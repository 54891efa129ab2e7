/* Softmax over the last axis of [1, 10]. */
static void softmax_s8_0(const int8_t *x, int8_t *y, const edgec_softmax_params_t *params)
{
    enum { ROWS = 1, DEPTH = 10, SHIFT = 32 };
    const edgec_softmax_params_t p = *params;
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
        const uint32_t divisor =
            (uint32_t)edgec_max_s32(edgec_requantize(sum, p.multiplier, SHIFT), 1);
        for (int32_t i = 0; i < DEPTH; i++) {
            const uint32_t exponential = (uint32_t)p.table[largest - from[i]];
            const uint32_t quotient = (exponential + divisor / 2U) / divisor;
            /* Anything above 255 is clamped whatever the zero point. */
            const int32_t steps = (quotient > 255U) ? 255 : (int32_t)quotient;
            y[r * DEPTH + i] =
                (int8_t)edgec_clamp_s32(p.y_zero_point + steps, p.act_min, p.act_max);
        }
    }
}
