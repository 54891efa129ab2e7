/* Sum of two int8 tensors with two roundings, 100 elements. */
EDGEC_SEPARATE void add_s8_neon_s8_0(const int8_t *a, const int8_t *b, int8_t *y, const edgec_tflite_sum_params_t *params)
{
    const edgec_tflite_sum_params_t p = *params;
    const int8x8_t a_zero_point = vdup_n_s8((int8_t)p.a_zero_point);
    const int8x8_t b_zero_point = vdup_n_s8((int8_t)p.b_zero_point);
    const int16x8_t y_zero_point = vdupq_n_s16((int16_t)p.y_zero_point);
    const int8x8_t least = vdup_n_s8((int8_t)p.act_min);
    const int8x8_t most = vdup_n_s8((int8_t)p.act_max);
    int32_t i = 0;
    for (; i <= 100 - 8; i += 8) {
        const int16x8_t a_steps = edgec_neon_steps5(a + i, a_zero_point);
        const int32x4_t a_product_low = edgec_neon_steps20(vget_low_s16(a_steps), p.a_multiplier);
        const int32x4_t a_low = EDGEC_NEON_RSHR_AWAY(a_product_low, 2);
        const int32x4_t a_product_high = edgec_neon_steps20(vget_high_s16(a_steps), p.a_multiplier);
        const int32x4_t a_high = EDGEC_NEON_RSHR_AWAY(a_product_high, 2);
        const int16x8_t b_steps = edgec_neon_steps5(b + i, b_zero_point);
        const int32x4_t b_product_low = edgec_neon_steps20(vget_low_s16(b_steps), p.b_multiplier);
        const int32x4_t b_low = b_product_low;
        const int32x4_t b_product_high = edgec_neon_steps20(vget_high_s16(b_steps), p.b_multiplier);
        const int32x4_t b_high = b_product_high;
        const int32x4_t sum_low = vqrdmulhq_n_s32(vaddq_s32(a_low, b_low), p.y_multiplier);
        const int16x4_t code_low = vqmovn_s32(EDGEC_NEON_RSHR_AWAY(sum_low, 17));
        const int32x4_t sum_high = vqrdmulhq_n_s32(vaddq_s32(a_high, b_high), p.y_multiplier);
        const int16x4_t code_high = vqmovn_s32(EDGEC_NEON_RSHR_AWAY(sum_high, 17));
        const int8x8_t codes = vqmovn_s16(vqaddq_s16(vcombine_s16(code_low, code_high), y_zero_point));
        vst1_s8(y + i, vmin_s8(vmax_s8(codes, least), most));
    }
    for (; i < 100; i++) {
        y[i] = (int8_t)edgec_add_twice(a[i], b[i], &p, 20, 2, 0, 17);
    }
}
