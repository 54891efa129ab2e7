/* Matrix product [1, 30] by [10, 30], four at a time. */
EDGEC_SEPARATE void lanes_1x4_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    enum {
        UNITS = 10,
        DEPTH = 30,
        PADDED_DEPTH = 32,
        FOURS = 3,
        BATCH = 3,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    edgec_lanes_t *const row = (edgec_lanes_t *)(void *)scratch;
    edgec_lanes_t *const lanes = row + PADDED_DEPTH;
    const uint32_t more = edgec_lanes_1x4_row(x, row, DEPTH, PADDED_DEPTH);
    for (int32_t four = 0; four < FOURS; four += BATCH) {
        const int32_t batch = edgec_min_s32(FOURS - four, BATCH);
        const edgec_lanes_1x4_call_t call = {
            p.weights + four * (EDGEC_LANES_1X4_FILTERS * PADDED_DEPTH), row, lanes, lanes,
            lanes + batch * EDGEC_LANES_1X4_FILTERS};
        edgec_lanes_1x4_sums(&call);
        for (int32_t i = 0; i < batch; i++) {
            const int32_t first = (four + i) * EDGEC_LANES_1X4_FILTERS;
            int32_t sums[EDGEC_LANES_1X4_FILTERS];
            edgec_lanes_1x4_take(lanes + i * EDGEC_LANES_1X4_FILTERS, 0U - more, sums);
            const int32_t count = edgec_min_s32(UNITS - first, EDGEC_LANES_1X4_FILTERS);
            for (int32_t j = 0; j < count; j++) {
                const int32_t o = first + j;
                const int32_t acc = (int32_t)((uint32_t)sums[j] + (uint32_t)p.bias[o]);
                const int8_t value = edgec_requantize_split_s8(20, 12, acc, p.multiplier[o], SHIFT,
                                                         p.y_zero_point, p.act_min, p.act_max);
                y[o] = value;
            }
        }
    }
}
