/* Layer normalization of 4 rows of 67. */
static void norm_neon_s8_0(const edgec_s16_t *x, int8_t *y, const edgec_norm_params_t *params)
{
    enum { CHANNELS = 67, SHIFT = 17, LOW = -127, HIGH = 127 };
    const edgec_norm_params_t p = *params;
    for (int32_t r = 0; r < 4; r++, x += CHANNELS, y += CHANNELS) {
        const edgec_norm_sums_t sums = edgec_neon_norm_sums(x, CHANNELS);
        const edgec_norm_line_t w = {CHANNELS, -sums.total};
        const int32_t excess = edgec_norm_excess(&sums, w);
        const int32_t p_shift = edgec_max_s32(excess + 4, p.least_shift);
        const int32_t squares = edgec_neon_norm_squares(x, CHANNELS, w, p_shift);
        const edgec_norm_row_t row = edgec_norm_row(&p, excess, p_shift, squares);
        const edgec_neon_norm_t steps = edgec_neon_norm(w, row, SHIFT);
        int32_t c = 0;
        for (; c <= CHANNELS - 8; c += 8) {
            const int16x8_t eight = edgec_neon_norm_eight(x + c, p.gamma + c, p.beta + c, &steps);
            const int16x8_t codes = vminq_s16(vmaxq_s16(eight, vdupq_n_s16(LOW)), vdupq_n_s16(HIGH));
            vst1_s8(y + c, vmovn_s16(codes));
        }
        for (; c < CHANNELS; c++) {
            const int32_t u = edgec_norm_unit(w.factor * x[c] + w.offset, row);
            y[c] = (int8_t)edgec_limit((u * p.gamma[c] + p.beta[c]) >> SHIFT, LOW, HIGH);
        }
    }
}
