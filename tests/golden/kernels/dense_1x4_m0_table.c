/* Matrix product [1, 30] by [36, 30], four at a time. */
EDGEC_SEPARATE void dense_1x4_s8_m0_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        UNITS = 36,
        DEPTH = 30,
        PADDED_DEPTH = 32,
        FOURS = 9,
        BATCH = 8,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511,
    };
    const edgec_rescale16_params_t p = *params;
    edgec_lanes_t *const row = (edgec_lanes_t *)(void *)scratch;
    edgec_lanes_t *const lanes = row + PADDED_DEPTH;
    const uint32_t more = edgec_dense_1x4_m0_row(x, row, DEPTH, PADDED_DEPTH);
    for (int32_t four = 0; four < FOURS; four += BATCH) {
        const int32_t batch = edgec_min_s32(FOURS - four, BATCH);
        const edgec_dense_1x4_m0_call_t call = {
            p.weights + four * (EDGEC_DENSE_1X4_M0_FILTERS * PADDED_DEPTH), row, lanes, lanes,
            lanes + batch * EDGEC_DENSE_1X4_M0_FILTERS};
        edgec_dense_1x4_m0_sums(&call);
        for (int32_t i = 0; i < batch; i++) {
            const int32_t first = (four + i) * EDGEC_DENSE_1X4_M0_FILTERS;
            int32_t sums[EDGEC_DENSE_1X4_M0_FILTERS];
            edgec_dense_1x4_m0_take(lanes + i * EDGEC_DENSE_1X4_M0_FILTERS, 0U - more, sums);
            const int32_t count = edgec_min_s32(UNITS - first, EDGEC_DENSE_1X4_M0_FILTERS);
            for (int32_t j = 0; j < count; j++) {
                const int32_t o = first + j;
                const int32_t acc = (int32_t)((uint32_t)sums[j] + (uint32_t)p.bias[o]);
                const int32_t scaled = edgec_rescale(acc, p.multiplier[o], PRE_SHIFT, SHIFT);
                y[o] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
            }
        }
    }
}
