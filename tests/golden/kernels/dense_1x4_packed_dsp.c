#ifndef EDGEC_PACKED_SUMS_4_8
#define EDGEC_PACKED_SUMS_4_8
EDGEC_DENSE_1X4_PACKED(edgec_packed_sums_4_8, 8, 2, 4)
#endif

/* Matrix product [1, 64] by [10, 64] of 4 bits, four filters at a time. */
EDGEC_SEPARATE void dense_1x4_packed_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    enum {
        UNITS = 10,
        DEPTH = 64,
        PAIRS = 32,
        FOURS = 3,
        FOUR_BYTES = 128,
        BATCH = 3,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    edgec_pair_t *const row = (edgec_pair_t *)(void *)scratch;
    edgec_dense_1x4_packed_row(x, row, DEPTH, PAIRS, 4);
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 132);
    for (int32_t four = 0; four < FOURS; four += BATCH) {
        const int32_t batch = edgec_min_s32(FOURS - four, BATCH);
        edgec_packed_sums_4_8(p.weights + four * FOUR_BYTES, row, sums, batch);
        const int32_t first = four * EDGEC_DENSE_1X4_FILTERS;
        const int32_t end = edgec_min_s32(UNITS, first + batch * EDGEC_DENSE_1X4_FILTERS);
        for (int32_t o = first; o < end; o++) {
            const int32_t acc = sums[o - first] + p.bias[o];
            const int8_t value = edgec_requantize_s8(acc, p.multiplier[o], SHIFT,
                                                     p.y_zero_point, p.act_min, p.act_max);
            y[o] = value;
        }
    }
}
