EDGEC_NORM_S8(norm_s8_0_pairs, 32, 17, 1)

/* Layer normalization of 4 rows of 64. */
static void norm_s8_0(const edgec_s16_t *x, int8_t *y, const edgec_norm_params_t *params)
{
    enum { CHANNELS = 64 };
    const edgec_norm_params_t p = *params;
    for (int32_t r = 0; r < 4; r++, x += CHANNELS, y += CHANNELS) {
        const edgec_norm_sums_t sums = edgec_norm_sums(x, CHANNELS);
        const edgec_norm_line_t w = {CHANNELS, -sums.total};
        const int32_t excess = edgec_norm_excess(&sums, w);
        const int32_t p_shift = edgec_max_s32(excess + 3, p.least_shift);
        const int32_t squares = edgec_norm_squares(x, CHANNELS, w, p_shift);
        const edgec_norm_row_t row = edgec_norm_row(&p, excess, p_shift, squares);
        const edgec_norm_steps_t steps = {w, row};
        norm_s8_0_pairs(x, y, p.gamma, p.beta, &steps);
    }
}
