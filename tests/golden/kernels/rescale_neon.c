/* Rescaling of 100 elements from int16, eight at a time. */
static void rescale_neon_s8_0(const edgec_s16_t *x, int8_t *y, const edgec_single_params_t *params)
{
    enum { PRE_SHIFT = 3, SHIFT = 9, LOW = -127, HIGH = 127 };
    const edgec_single_params_t p = *params;
    const int32x4_t bias = vdupq_n_s32(p.bias);
    const int16_t multiplier = (int16_t)p.multiplier;
    int32_t i = 0;
    for (; i <= 100 - 8; i += 8) {
        const int16x8_t eight = edgec_neon_load8_s16(x + i);
        const int32x4_t low = vmull_n_s16(vqshrn_n_s32(vaddw_s16(bias, vget_low_s16(eight)), 3), multiplier);
        const int32x4_t high = vmull_n_s16(vqshrn_n_s32(vaddw_s16(bias, vget_high_s16(eight)), 3), multiplier);
        const int16x8_t codes = vcombine_s16(vqrshrn_n_s32(low, 9), vqrshrn_n_s32(high, 9));
        vst1_s8(y + i, vqmovn_s16(vmaxq_s16(codes, vdupq_n_s16(-127))));
    }
    for (; i < 100; i++) {
        y[i] = (int8_t)edgec_limit(edgec_rescale(x[i] + p.bias, p.multiplier, PRE_SHIFT, SHIFT), LOW, HIGH);
    }
}
