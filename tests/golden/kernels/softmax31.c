/* Softmax in 31 bits over the last axis of [1, 10]. */
static void softmax31_s8_0(const int8_t *x, int8_t *y, const edgec_softmax31_params_t *params)
{
    enum { ROWS = 1, DEPTH = 10 };
    const int32_t *const table = params->table;
    for (int32_t r = 0; r < ROWS; r++) {
        const int8_t *const from = x + r * DEPTH;
        int32_t largest = INT8_MIN;
        for (int32_t i = 0; i < DEPTH; i++) {
            largest = edgec_max_s32(largest, from[i]);
        }
        int32_t sum = 0;
        for (int32_t i = 0; i < DEPTH; i++) {
            sum += edgec_rshr_positive(table[largest - from[i]], 12);
        }
        const edgec_reciprocal_t inverse = edgec_reciprocal12(sum);
        for (int32_t i = 0; i < DEPTH; i++) {
            const int32_t product = edgec_high31(inverse.multiplier, table[largest - from[i]]);
            const int32_t code = edgec_rshr_positive(product, 23 + inverse.places) + INT8_MIN;
            y[r * DEPTH + i] = (int8_t)edgec_min_s32(code, INT8_MAX);
        }
    }
}
