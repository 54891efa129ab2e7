/* Root mean square normalization of 4 rows of 64. */
static void norm_s8_0(const edgec_s16_t *x, edgec_s16_t *y, const edgec_norm_params_t *params)
{
    enum { CHANNELS = 64, SHIFT = 10, LOW = -32768, HIGH = 32767 };
    const edgec_norm_params_t p = *params;
    for (int32_t r = 0; r < 4; r++, x += CHANNELS, y += CHANNELS) {
        const edgec_norm_sums_t sums = edgec_norm_sums(x, CHANNELS);
        const edgec_norm_line_t w = {1, 0};
        const int32_t excess = edgec_norm_excess(&sums, w);
        const int32_t p_shift = edgec_max_s32(excess + 3, p.least_shift);
        const int32_t squares = edgec_norm_squares(x, CHANNELS, w, p_shift);
        const edgec_norm_row_t row = edgec_norm_row(&p, excess, p_shift, squares);
        for (int32_t c = 0; c < CHANNELS - 1; c += 2) {
            const edgec_norm_two_t two = edgec_norm_two(x + c, w);
            y[c] = (edgec_s16_t)edgec_limit((edgec_norm_unit(two.first, row) * p.gamma[c] + p.beta[c]) >> SHIFT, LOW, HIGH);
            y[c + 1] = (edgec_s16_t)edgec_limit((edgec_norm_unit(two.second, row) * p.gamma[c + 1] + p.beta[c + 1]) >> SHIFT, LOW, HIGH);
        }
    }
}
