EDGEC_DENSE_4X2(attention_dsp_s8_0_logits, 4, 4, 96, 4, 192, 1, 0)
EDGEC_VALUES_4X2(attention_dsp_s8_0_values, 4, 1, 96, 0)

/* Attention of 9 queries to 8 keys, 2 heads, four queries at a time. */
static void attention_dsp_s8_0(const int8_t *q, const int8_t *k, const int8_t *v, int8_t *y, int8_t *scratch,
    const edgec_attention_params_t *params)
{
    enum {
        QUERIES = 9,
        KEYS = 8,
        PAIRS = 4,
        HEADS = 2,
        WORDS = 4,
        WIDTH = 16,
        VALUES = 16,
        ROW = HEADS * VALUES,
    };
    edgec_pair_t *const widened = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const logits = (edgec_s32_t *)(void *)(scratch + 160);
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 288);
    int32_t b = 0;
    int32_t h = 0;
    for (int32_t n = 0; n < 1 * HEADS; n++) {
        const edgec_attention_head_t head = edgec_attention_head(params, h);
        const int8_t *const queries = q + b * 864 + 0 + h * WIDTH;
        const int8_t *const keys = k + b * 768 + 32 + h * WIDTH;
        const int8_t *const values = v + b * 768 + 64 + h * VALUES;
        for (int32_t i = 0; i < QUERIES; i += EDGEC_DENSE_4X2_ROWS) {
            const int32_t count = edgec_min_s32(QUERIES - i, EDGEC_DENSE_4X2_ROWS);
            for (int32_t t = 0; t < EDGEC_DENSE_4X2_ROWS; t++) {
                /* Queries beyond the last one repeat it; their outputs are not stored. */
                const int32_t query = edgec_min_s32(i + t, QUERIES - 1);
                edgec_widen4(queries + query * 96, widened, t, WORDS);
            }
            attention_dsp_s8_0_logits(keys, widened, logits, KEYS / 2);
            edgec_attention_scale_t scales[EDGEC_DENSE_4X2_ROWS];
            for (int32_t t = 0; t < EDGEC_DENSE_4X2_ROWS; t++) {
                const uint32_t sum = edgec_attention_row(logits + 2 * t, PAIRS, 0, &head, 15);
                scales[t] = edgec_attention_scale(sum, &head);
            }
            attention_dsp_s8_0_values(values, (const edgec_pair_t *)logits, sums, VALUES / 2);
            for (int32_t t = 0; t < count; t++) {
                int8_t *const out = y + (b * QUERIES + i + t) * ROW + h * VALUES;
                const edgec_attention_scale_t scale = scales[t];
                for (int32_t e = 0; e < VALUES; e += 2) {
                    out[e] = edgec_attention_code(sums[4 * e + 2 * t], scale);
                    out[e + 1] = edgec_attention_code(sums[4 * e + 2 * t + 1], scale);
                }
            }
        }
        h++;
        b += (h == HEADS) ? 1 : 0;
        h = (h == HEADS) ? 0 : h;
    }
}
