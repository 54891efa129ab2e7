/* 7 rows of a table [50, 16]. */
static void embedding_s8_0(const edgec_s32_t *ids, const int8_t *table, edgec_s16_t *y)
{
    enum { CHANNELS = 16 };
    for (int32_t i = 0; i < 7; i++) {
        const int32_t id = edgec_clamp_s32(ids[i], 0, 49);
        const int8_t *const from = table + id * CHANNELS;
        for (int32_t c = 0; c < CHANNELS; c++) {
            *y++ = (edgec_s16_t)edgec_sat16(from[c] * 200);
        }
    }
}
