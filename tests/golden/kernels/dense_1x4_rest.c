#ifndef EDGEC_ROW_SUMS_8
#define EDGEC_ROW_SUMS_8
EDGEC_DENSE_1X4(edgec_row_sums_8, 8, 8, 1)
#endif

/* Matrix product [1, 30] by [36, 30], four at a time. */
EDGEC_SEPARATE void dense_1x4_dsp_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        UNITS = 36,
        FULL_WORDS = 7,
        REST = 2,
        FOURS = 9,
        FOUR_BYTES = 128,
        BATCH = 8,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511,
    };
    const edgec_rescale16_params_t p = *params;
    edgec_pair_t *const row = (edgec_pair_t *)(void *)scratch;
    edgec_s32_t *const sums = (edgec_s32_t *)(void *)(scratch + 72);
    edgec_widen1(x, row, FULL_WORDS, REST);
    for (int32_t four = 0; four < FOURS; four += BATCH) {
        const int32_t batch = edgec_min_s32(FOURS - four, BATCH);
        edgec_row_sums_8(p.weights + four * FOUR_BYTES, row, sums, batch);
        const int32_t first = four * EDGEC_DENSE_1X4_FILTERS;
        const int32_t end = edgec_min_s32(UNITS, first + batch * EDGEC_DENSE_1X4_FILTERS);
        for (int32_t o = first; o < end; o++) {
            const int32_t acc = sums[o - first] + p.bias[o];
            const int32_t scaled = edgec_rescale(acc, p.multiplier[o], PRE_SHIFT, SHIFT);
            y[o] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
        }
    }
}
