/* Matrix product [1, 32] by [10, 32], four at a time. */
EDGEC_SEPARATE void dense_1x4_s16_m0_s8_0(const int16_t *x, int16_t *y, int8_t *scratch, const edgec_conv16_params_t *params)
{
    enum {
        UNITS = 10,
        DEPTH = 32,
        PADDED_DEPTH = 32,
        FOURS = 3,
        BATCH = 3,
        SHIFT = 38,
    };
    const edgec_conv16_params_t p = *params;
    const edgec_s16_t *const row = (const edgec_s16_t *)(const void *)x;
    edgec_lanes_t *const sums = (edgec_lanes_t *)(void *)(scratch + 0);
    const uint32_t more = edgec_dense_1x4_s16_m0_more(row, DEPTH);
    for (int32_t four = 0; four < FOURS; four += BATCH) {
        const int32_t batch = edgec_min_s32(FOURS - four, BATCH);
        const edgec_dense_1x4_s16_m0_call_t call = {
            p.weights + four * (EDGEC_DENSE_1X4_M0_FILTERS * PADDED_DEPTH), row,
            row + PADDED_DEPTH, sums, sums + batch * EDGEC_DENSE_1X4_M0_FILTERS, more};
        edgec_dense_1x4_s16_m0_sums(&call);
        const int32_t first = four * EDGEC_DENSE_1X4_M0_FILTERS;
        const int32_t end = edgec_min_s32(UNITS, first + batch * EDGEC_DENSE_1X4_M0_FILTERS);
        for (int32_t o = first; o < end; o++) {
            const int32_t acc = (int32_t)(sums[o - first] + (uint32_t)p.bias[o]);
            y[o] = edgec_requantize_s16(acc, p.multiplier[o], SHIFT,
                                                               p.y_zero_point, p.low, p.high);
        }
    }
}
