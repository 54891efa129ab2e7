/* Depthwise convolution [9, 9, 8] to [5, 5, 8], 3x3 window, stride 2x2, eight channels at a time. */
EDGEC_SEPARATE void depthwise_s16_neon_s8_0(const int16_t *x, int16_t *y, int8_t *scratch, const edgec_conv16_params_t *params)
{
    enum {
        HEIGHT = 9,
        WIDTH = 9,
        CHANNELS = 8,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 5,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 2,
        STRIDE_W = 2,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        TAPS = 9,
        COLUMNS = 5,
        STEP = 32,
        OUT_STEP = 8,
        OUT_ROW = 40,
        ROW = 176,
    };
    const edgec_conv16_params_t p = *params;
    const int16x8_t least = vdupq_n_s16((int16_t)p.low);
    const int16x8_t most = vdupq_n_s16((int16_t)p.high);
    memset(scratch, 0, 544);
    const int8_t *const rows = scratch;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
            int8_t *const row = scratch + ky * ROW;
            if (iy < 0 || iy >= HEIGHT) {
                memset(row, 0, ROW);
            } else {
                edgec_neon_copy(row + PAD_LEFT * CHANNELS * 2, (const int8_t *)(const void *)(x + iy * WIDTH * CHANNELS), 144);
            }
        }
        int16_t *const to = y + oy * OUT_ROW;
        for (int32_t c = 0; c < 8; c += 8) {
            const int8_t *const weights = p.weights + c * TAPS;
            const int32x4_t bias0 = vld1q_s32(p.bias + c + 0);
            const int32x4_t bias1 = vld1q_s32(p.bias + c + 4);
            const int32x4_t multiplier0 = vld1q_s32(p.multiplier + c + 0);
            const int32x4_t multiplier1 = vld1q_s32(p.multiplier + c + 4);
            const int16x8_t w0 = vmovl_s8(vld1_s8(weights + 0 * 8));
            const int16x8_t w1 = vmovl_s8(vld1_s8(weights + 1 * 8));
            const int16x8_t w2 = vmovl_s8(vld1_s8(weights + 2 * 8));
            const int16x8_t w3 = vmovl_s8(vld1_s8(weights + 3 * 8));
            const int16x8_t w4 = vmovl_s8(vld1_s8(weights + 4 * 8));
            const int16x8_t w5 = vmovl_s8(vld1_s8(weights + 5 * 8));
            const int16x8_t w6 = vmovl_s8(vld1_s8(weights + 6 * 8));
            const int16x8_t w7 = vmovl_s8(vld1_s8(weights + 7 * 8));
            const int16x8_t w8 = vmovl_s8(vld1_s8(weights + 8 * 8));
            const int8_t *from = rows + c * 2;
            int16_t *out = to + c;
            for (int32_t ox = 0; ox < COLUMNS; ox++) {
                int32x4_t sum0 = bias0, sum1 = bias1;
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 0 * ROW + 0);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w0);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w0);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 0 * ROW + 16);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w1);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w1);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 0 * ROW + 32);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w2);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w2);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 1 * ROW + 0);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w3);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w3);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 1 * ROW + 16);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w4);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w4);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 1 * ROW + 32);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w5);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w5);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 2 * ROW + 0);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w6);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w6);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 2 * ROW + 16);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w7);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w7);
                }
                {
                    const int16x8_t image = edgec_neon_eight_s16(from + 2 * ROW + 32);
                    sum0 = edgec_neon_more_low_s16(sum0, image, w8);
                    sum1 = edgec_neon_more_high_s16(sum1, image, w8);
                }
                const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
                const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
                const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
                vst1q_s16(out + 0, codes0);
                from += STEP;
                out += OUT_STEP;
            }
        }
    }
}
