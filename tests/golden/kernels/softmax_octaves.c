/* Softmax of 2 rows of 10. */
static void softmax_octaves_s8_0(const int8_t *x, int8_t *y)
{
    enum { DEPTH = 10 };
    const edgec_attention_head_t head = {
        96820000, 11, (int32_t)1 << 30, 22,
    };
    for (int32_t r = 0; r < 2; r++) {
        const int8_t *const from = x + r * DEPTH;
        int32_t highest = INT8_MIN;
        for (int32_t i = 0; i < DEPTH; i++) {
            highest = edgec_max_s32(highest, from[i]);
        }
        const edgec_attention_line_t line = edgec_attention_line(highest, &head, 15);
        uint32_t sum = 0;
        for (int32_t i = 0; i < DEPTH; i++) {
            sum += (uint32_t)edgec_exponential(from[i], line);
        }
        const edgec_attention_scale_t scale = edgec_attention_scale(sum, &head);
        for (int32_t i = 0; i < DEPTH; i++) {
            const int32_t share = edgec_exponential(from[i], line) * scale.reciprocal;
            const int32_t steps = (share + scale.half) >> scale.shift;
            y[r * DEPTH + i] = (int8_t)(edgec_min_s32(steps, UINT8_MAX) + INT8_MIN);
        }
    }
}
