/* Attention of 8 queries to 8 keys, 2 heads. */
static void attention_s8_0(const int8_t *q, const int8_t *k, const int8_t *v, int8_t *y, int8_t *scratch, const edgec_attention_params_t *params)
{
    enum {
        QUERIES = 8,
        KEYS = 8,
        HEADS = 2,
        WIDTH = 16,
        VALUES = 16,
        EXP_BITS = 15,
    };
    edgec_s32_t *const logits = (edgec_s32_t *)(void *)scratch;
    edgec_s16_t *const weights = (edgec_s16_t *)(void *)scratch;
    int32_t b = 0;
    int32_t h = 0;
    for (int32_t n = 0; n < 1 * HEADS; n++) {
        const edgec_attention_head_t head = edgec_attention_head(params, h);
        const int8_t *const keys = k + b * 768 + 32 + h * WIDTH;
        const int8_t *const values = v + b * 768 + 64 + h * VALUES;
        for (int32_t i = 0; i < QUERIES; i++) {
            const int8_t *const query = q + (b * QUERIES + i) * 96 + 0 + h * WIDTH;
            int32_t highest = INT32_MIN;
            for (int32_t j = 0; j < KEYS; j++) {
                logits[j] = edgec_dot_s8(query, keys + j * 96, WIDTH);
                highest = edgec_max_s32(highest, logits[j]);
            }
            const edgec_attention_line_t line = edgec_attention_line(highest, &head, EXP_BITS);
            uint32_t sum = 0;
            for (int32_t j = 0; j < KEYS; j++) {
                const int32_t weight = edgec_exponential(logits[j], line);
                weights[j] = (edgec_s16_t)weight;
                sum += (uint32_t)weight;
            }
            const edgec_attention_scale_t scale = edgec_attention_scale(sum, &head);
            int8_t *const out = y + (b * QUERIES + i) * (HEADS * VALUES) + h * VALUES;
            for (int32_t e = 0; e < VALUES; e += EDGEC_VALUE_COLUMNS) {
                const int32_t columns = edgec_min_s32(VALUES - e, EDGEC_VALUE_COLUMNS);
                int32_t sums[EDGEC_VALUE_COLUMNS];
                edgec_weighted_values(weights, values + e, KEYS, 96, columns, sums);
                for (int32_t c = 0; c < columns; c++) {
                    out[e + c] = edgec_attention_code(sums[c], scale);
                }
            }
        }
        h++;
        b += (h == HEADS) ? 1 : 0;
        h = (h == HEADS) ? 0 : h;
    }
}
