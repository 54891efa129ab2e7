/* Depthwise convolution [9, 9, 8] to [5, 5, 8], 3x3 window, stride 2x2, sixteen channels at a time. */
EDGEC_SEPARATE void depthwise_s8_neon_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
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
        STEP = 16,
        OUT_STEP = 8,
        OUT_ROW = 40,
        ROW = 88,
    };
    const edgec_conv_params_t p = *params;
    const int16x8_t y_zero_point = vdupq_n_s16((int16_t)p.y_zero_point);
    const int8x16_t least = vdupq_n_s8((int8_t)p.act_min);
    const int8x16_t most = vdupq_n_s8((int8_t)p.act_max);
    memset(scratch, p.x_zero_point, 280);
    const int8_t *const rows = scratch;
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
            int8_t *const row = scratch + ky * ROW;
            if (iy < 0 || iy >= HEIGHT) {
                memset(row, p.x_zero_point, ROW);
            } else {
                edgec_neon_copy(row + PAD_LEFT * CHANNELS, x + iy * WIDTH * CHANNELS, 72);
            }
        }
        int8_t *const to = y + oy * OUT_ROW;
        {
            const int8_t *const weights = p.weights + 0 * TAPS;
            const int32x4_t bias0 = vld1q_s32(p.bias + 0 + 0);
            const int32x4_t bias1 = vld1q_s32(p.bias + 0 + 4);
            const int32x4_t multiplier0 = vld1q_s32(p.multiplier + 0 + 0);
            const int32x4_t multiplier1 = vld1q_s32(p.multiplier + 0 + 4);
            const int8x8_t w0 = vld1_s8(weights + 0 * 8);
            const int8x8_t w1 = vld1_s8(weights + 1 * 8);
            const int8x8_t w2 = vld1_s8(weights + 2 * 8);
            const int8x8_t w3 = vld1_s8(weights + 3 * 8);
            const int8x8_t w4 = vld1_s8(weights + 4 * 8);
            const int8x8_t w5 = vld1_s8(weights + 5 * 8);
            const int8x8_t w6 = vld1_s8(weights + 6 * 8);
            const int8x8_t w7 = vld1_s8(weights + 7 * 8);
            const int8x8_t w8 = vld1_s8(weights + 8 * 8);
            const int8_t *from = rows + 0;
            int8_t *out = to + 0;
            for (int32_t ox = 0; ox < COLUMNS; ox++) {
                int32x4_t sum0, sum1;
                {
                    int16x8_t low;
                    {
                        const int8x8_t image = vld1_s8(from + 0 * ROW + 0);
                        low = vmull_s8(image, w0);
                    }
                    {
                        const int8x8_t image = vld1_s8(from + 0 * ROW + 8);
                        low = vmlal_s8(low, image, w1);
                    }
                    sum0 = vaddw_s16(bias0, vget_low_s16(low));
                    sum1 = edgec_neon_add_high(bias1, low);
                    {
                        const int8x8_t image = vld1_s8(from + 0 * ROW + 16);
                        low = vmull_s8(image, w2);
                    }
                    {
                        const int8x8_t image = vld1_s8(from + 1 * ROW + 0);
                        low = vmlal_s8(low, image, w3);
                    }
                    sum0 = vaddw_s16(sum0, vget_low_s16(low));
                    sum1 = edgec_neon_add_high(sum1, low);
                    {
                        const int8x8_t image = vld1_s8(from + 1 * ROW + 8);
                        low = vmull_s8(image, w4);
                    }
                    {
                        const int8x8_t image = vld1_s8(from + 1 * ROW + 16);
                        low = vmlal_s8(low, image, w5);
                    }
                    sum0 = vaddw_s16(sum0, vget_low_s16(low));
                    sum1 = edgec_neon_add_high(sum1, low);
                    {
                        const int8x8_t image = vld1_s8(from + 2 * ROW + 0);
                        low = vmull_s8(image, w6);
                    }
                    {
                        const int8x8_t image = vld1_s8(from + 2 * ROW + 8);
                        low = vmlal_s8(low, image, w7);
                    }
                    sum0 = vaddw_s16(sum0, vget_low_s16(low));
                    sum1 = edgec_neon_add_high(sum1, low);
                    {
                        const int8x8_t image = vld1_s8(from + 2 * ROW + 16);
                        low = vmull_s8(image, w8);
                    }
                    sum0 = vaddw_s16(sum0, vget_low_s16(low));
                    sum1 = edgec_neon_add_high(sum1, low);
                }
                const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
                const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
                const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
                const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
                vst1_s8(out, limited);
                from += STEP;
                out += OUT_STEP;
            }
        }
    }
}
