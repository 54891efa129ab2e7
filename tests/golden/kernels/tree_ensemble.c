/* 20 decision trees, 3 outputs. */
static void tree_ensemble_s8_0(const int8_t *x, const edgec_s16_t *nodes, const edgec_s32_t *roots, const edgec_s16_t *leaves, const edgec_s32_t *base, int8_t *y, int8_t *scratch)
{
    enum { TREES = 20, OUTPUTS = 3 };
    edgec_s32_t *const sums = (void *)scratch;
    for (int32_t c = 0; c < OUTPUTS; c++) {
        sums[c] = base[c];
    }
    for (int32_t tree = 0; tree < TREES; tree++) {
        const edgec_s16_t *node = nodes + 3 * roots[tree];
        while (node[0] >= 0) {
            node += 3 * (x[node[0]] <= node[1] ? 1 : node[2]);
        }
        const edgec_s16_t *const leaf = leaves + (node[1] + 32768 * node[2]) * OUTPUTS;
        for (int32_t c = 0; c < OUTPUTS; c++) {
            sums[c] += leaf[c];
        }
    }
    for (int32_t c = 0; c < OUTPUTS; c++) {
        y[c] = edgec_requantize_s8(sums[c], 1073741824, 41, 0, -128, 127);
    }
}
