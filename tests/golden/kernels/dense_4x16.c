EDGEC_NEON_WIDE_16(dense_4x16_s16_neon_s8_0_sums16, EDGEC_NEON_WIDE_EIGHTS_16 , EDGEC_NEON_WIDE_NEXT)
EDGEC_NEON_WIDE_8(dense_4x16_s16_neon_s8_0_sums8, EDGEC_NEON_WIDE_EIGHTS_8 , EDGEC_NEON_WIDE_NEXT)
EDGEC_SEPARATE void dense_4x16_s16_neon_s8_0_tile(const int8_t *const *rows, const edgec_conv16_params_t *params,
    int16_t *y)
{
    enum { UNITS = 40, WORDS = 12, LINES = 3, STEP = 480, STORED = 1152 };
    const edgec_conv16_params_t p = *params;
    const int16x8_t least = vdupq_n_s16((int16_t)p.low);
    const int16x8_t most = vdupq_n_s16((int16_t)p.high);
    const int32_t row0 = 0;
    const int32_t row1 = 1 * UNITS;
    const int32_t row2 = 2 * UNITS;
    const int32_t row3 = 3 * UNITS;
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < 32; o += 16, weights += STORED * 2) {
        const int32x4_t multiplier0 = vld1q_s32(p.multiplier + o + 0);
        const int32x4_t multiplier1 = vld1q_s32(p.multiplier + o + 4);
        const int32x4_t multiplier2 = vld1q_s32(p.multiplier + o + 8);
        const int32x4_t multiplier3 = vld1q_s32(p.multiplier + o + 12);
        const edgec_neon_wide16_t tile = dense_4x16_s16_neon_s8_0_sums16(rows, weights, STORED, LINES, WORDS / 2, STEP, p.bias + o);
        {
            const int32x4_t sum0 = tile.sum[0][0];
            const int32x4_t sum1 = tile.sum[0][1];
            const int32x4_t sum2 = tile.sum[0][2];
            const int32x4_t sum3 = tile.sum[0][3];
            int16_t *const out = y + row0 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x4_t four2 = vqrshrn_n_s32(vqdmulhq_s32(sum2, multiplier2), 7);
            const int16x4_t four3 = vqrshrn_n_s32(vqdmulhq_s32(sum3, multiplier3), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            const int16x8_t codes1 = vminq_s16(vmaxq_s16(vcombine_s16(four2, four3), least), most);
            vst1q_s16(out + 0, codes0);
            vst1q_s16(out + 8, codes1);
        }
        {
            const int32x4_t sum0 = tile.sum[1][0];
            const int32x4_t sum1 = tile.sum[1][1];
            const int32x4_t sum2 = tile.sum[1][2];
            const int32x4_t sum3 = tile.sum[1][3];
            int16_t *const out = y + row1 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x4_t four2 = vqrshrn_n_s32(vqdmulhq_s32(sum2, multiplier2), 7);
            const int16x4_t four3 = vqrshrn_n_s32(vqdmulhq_s32(sum3, multiplier3), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            const int16x8_t codes1 = vminq_s16(vmaxq_s16(vcombine_s16(four2, four3), least), most);
            vst1q_s16(out + 0, codes0);
            vst1q_s16(out + 8, codes1);
        }
        {
            const int32x4_t sum0 = tile.sum[2][0];
            const int32x4_t sum1 = tile.sum[2][1];
            const int32x4_t sum2 = tile.sum[2][2];
            const int32x4_t sum3 = tile.sum[2][3];
            int16_t *const out = y + row2 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x4_t four2 = vqrshrn_n_s32(vqdmulhq_s32(sum2, multiplier2), 7);
            const int16x4_t four3 = vqrshrn_n_s32(vqdmulhq_s32(sum3, multiplier3), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            const int16x8_t codes1 = vminq_s16(vmaxq_s16(vcombine_s16(four2, four3), least), most);
            vst1q_s16(out + 0, codes0);
            vst1q_s16(out + 8, codes1);
        }
        {
            const int32x4_t sum0 = tile.sum[3][0];
            const int32x4_t sum1 = tile.sum[3][1];
            const int32x4_t sum2 = tile.sum[3][2];
            const int32x4_t sum3 = tile.sum[3][3];
            int16_t *const out = y + row3 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x4_t four2 = vqrshrn_n_s32(vqdmulhq_s32(sum2, multiplier2), 7);
            const int16x4_t four3 = vqrshrn_n_s32(vqdmulhq_s32(sum3, multiplier3), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            const int16x8_t codes1 = vminq_s16(vmaxq_s16(vcombine_s16(four2, four3), least), most);
            vst1q_s16(out + 0, codes0);
            vst1q_s16(out + 8, codes1);
        }
    }
    {
        const int32x4_t multiplier0 = vld1q_s32(p.multiplier + o + 0);
        const int32x4_t multiplier1 = vld1q_s32(p.multiplier + o + 4);
        const edgec_neon_wide8_t tile = dense_4x16_s16_neon_s8_0_sums8(rows, weights, STORED, LINES, WORDS / 2, STEP, p.bias + o);
        {
            const int32x4_t sum0 = tile.sum[0][0];
            const int32x4_t sum1 = tile.sum[0][1];
            int16_t *const out = y + row0 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = tile.sum[1][0];
            const int32x4_t sum1 = tile.sum[1][1];
            int16_t *const out = y + row1 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = tile.sum[2][0];
            const int32x4_t sum1 = tile.sum[2][1];
            int16_t *const out = y + row2 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = tile.sum[3][0];
            const int32x4_t sum1 = tile.sum[3][1];
            int16_t *const out = y + row3 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
    }
}

/* Convolution [8, 16, 16] to [8, 16, 40], 3x3 window, stride 1x1, four rows at a time. */
EDGEC_SEPARATE void dense_4x16_s16_neon_s8_0(const int16_t *x, int16_t *y, int8_t *scratch, const edgec_conv16_params_t *params)
{
    enum {
        HEIGHT = 8,
        WIDTH = 16,
        CHANNELS = 16,
        OUT_HEIGHT = 8,
        OUT_WIDTH = 16,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        UNITS = 40,
        ROW = 576,
        PIXEL = 32,
        TOGETHER = 4,
    };
    memset(scratch, 0, 1744);
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
            int8_t *const row = scratch + ky * ROW;
            if (iy < 0 || iy >= HEIGHT) {
                memset(row, 0, ROW);
            } else {
                edgec_neon_copy(row + PAD_LEFT * CHANNELS * 2, (const int8_t *)(const void *)(x + iy * WIDTH * CHANNELS), 512);
            }
        }
        for (int32_t first = 0; first < OUT_WIDTH; first += TOGETHER) {
            const int8_t *const from = scratch + first * PIXEL;
            const int8_t *rows[TOGETHER];
            for (int32_t t = 0; t < TOGETHER; t++) {
                rows[t] = from + t * PIXEL;
            }
            dense_4x16_s16_neon_s8_0_tile(rows, params, y + (oy * OUT_WIDTH + first) * UNITS);
        }
    }
}
