/* Attention of 8 queries to 9 keys, 2 heads, four queries at a time. */
static void attention_neon_s8_0(const int8_t *q, const int8_t *k, const int8_t *v, const edgec_s32_t *mask, int8_t *y, int8_t *scratch, const edgec_attention_params_t *params)
{
    enum {
        QUERIES = 8,
        KEYS = 9,
        HEADS = 2,
        WIDTH = 16,
        VALUES = 16,
        BLOCKS = 1,
        ROW = 16,
        EXP_BITS = 13,
    };
    int8_t *const queries = scratch;
    int8_t *const packed = scratch + 64;
    edgec_s16_t *const values = (edgec_s16_t *)(void *)(scratch + 256);
    edgec_s32_t *const logits = (edgec_s32_t *)(void *)(scratch + 640);
    edgec_s16_t *const valid = (edgec_s16_t *)(void *)(scratch + 896);
    const int32_t rows = (KEYS + EDGEC_NEON_ROWS - 1) / EDGEC_NEON_ROWS * EDGEC_NEON_ROWS;
    int32_t b = 0;
    int32_t h = 0;
    for (int32_t n = 0; n < 2 * HEADS; n++) {
        const edgec_attention_head_t head = edgec_attention_head(params, h);
        edgec_neon_pack_keys(k + b * 864 + 32 + h * WIDTH, 96, KEYS, WIDTH, BLOCKS, packed);
        edgec_neon_pack_values(v + b * 864 + 64 + h * VALUES, 96, KEYS, rows, VALUES, values);
        for (int32_t j = 0; j < ROW; j++) {
            valid[j] = (edgec_s16_t)((j < KEYS && mask[b * 9 + j] != 0) ? -1 : 0);
        }
        for (int32_t i = 0; i < QUERIES; i += EDGEC_NEON_ROWS) {
            int32_t highest[EDGEC_NEON_ROWS];
            edgec_attention_scale_t scales[EDGEC_NEON_ROWS];
            int8_t *out[EDGEC_NEON_ROWS];
            for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
                /* Queries beyond the last one repeat it. */
                const int32_t query = b * QUERIES + edgec_min_s32(i + t, QUERIES - 1);
                edgec_neon_spread(q + query * 96 + 0 + h * WIDTH, queries + t * EDGEC_NEON_LANES, WIDTH);
                out[t] = y + query * (HEADS * VALUES) + h * VALUES;
            }
            edgec_neon_logits(queries, packed, BLOCKS, rows, valid, logits, ROW, highest);
            for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
                const uint32_t sum = edgec_neon_row(logits + t * ROW, KEYS, valid, highest[t], &head, EXP_BITS);
                scales[t] = edgec_attention_scale(sum, &head);
            }
            for (int32_t e = 0; e < VALUES; e += EDGEC_NEON_COLUMNS) {
                const int32_t columns = edgec_min_s32(VALUES - e, EDGEC_NEON_COLUMNS);
                edgec_neon_values(logits, ROW, values + e * rows, rows, scales, out, e, columns);
            }
        }
        h++;
        b += (h == HEADS) ? 1 : 0;
        h = (h == HEADS) ? 0 : h;
    }
}
