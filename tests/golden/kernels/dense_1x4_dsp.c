#ifndef EDGEC_ROW_SUMS_16
#define EDGEC_ROW_SUMS_16
EDGEC_DENSE_1X4(edgec_row_sums_16, 16, 4, 0, 0)
#endif

/* Matrix product [1, 64] by [10, 64], four at a time. */
EDGEC_SEPARATE void dense_1x4_dsp_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    enum {
        UNITS = 10,
        FULL_WORDS = 16,
        REST = 0,
        FOURS = 3,
        FOUR_BYTES = 256,
        BATCH = 3,
        SHIFT = 32,
    };
    const edgec_conv_params_t p = *params;
    edgec_pair_t *const row = (edgec_pair_t *)(void *)scratch;
    edgec_widen1(x, row, FULL_WORDS, REST);
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 136);
    for (int32_t four = 0; four < FOURS; four += BATCH) {
        const int32_t batch = edgec_min_s32(FOURS - four, BATCH);
        edgec_row_sums_16(p.weights + four * FOUR_BYTES, row, sums, batch);
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
