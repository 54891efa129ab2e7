EDGEC_NEON_DOT8_SPLIT(dense_8x8_s16_dot_s8_0_sums, EDGEC_NEON_DOT_BEGIN EDGEC_NEON_DOT_PAIR EDGEC_NEON_DOT_ODD_END, EDGEC_NEON_DOT_NEXT)
EDGEC_SEPARATE void dense_8x8_s16_dot_s8_0_tile(const int8_t *const *rows, const edgec_conv16_params_t *params,
int16_t *y)
{
    enum { UNITS = 40, LINES = 3, STEP = 240, PAIRS = 1 };
    const edgec_conv16_params_t p = *params;
    const int16x8_t least = vdupq_n_s16((int16_t)p.low);
    const int16x8_t most = vdupq_n_s16((int16_t)p.high);
    const int32_t row0 = 0;
    const int32_t row1 = 1 * UNITS;
    const int32_t row2 = 2 * UNITS;
    const int32_t row3 = 3 * UNITS;
    const int32_t row4 = 4 * UNITS;
    const int32_t row5 = 5 * UNITS;
    const int32_t row6 = 6 * UNITS;
    const int32_t row7 = 7 * UNITS;
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < 40; o += 8) {
        const int32x4_t multiplier0 = vld1q_s32(p.multiplier + o + 0);
        const int32x4_t multiplier1 = vld1q_s32(p.multiplier + o + 4);
        const int32x4_t bias0 = vld1q_s32(p.bias + o + 0);
        const int32x4_t bias1 = vld1q_s32(p.bias + o + 4);
        const edgec_neon_dot_t tile = dense_8x8_s16_dot_s8_0_sums(rows, &weights, LINES, PAIRS, STEP, 880);
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[0][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[0][1], bias1);
            int16_t *const out = y + row0 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[1][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[1][1], bias1);
            int16_t *const out = y + row1 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[2][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[2][1], bias1);
            int16_t *const out = y + row2 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[3][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[3][1], bias1);
            int16_t *const out = y + row3 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[4][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[4][1], bias1);
            int16_t *const out = y + row4 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[5][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[5][1], bias1);
            int16_t *const out = y + row5 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[6][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[6][1], bias1);
            int16_t *const out = y + row6 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
        {
            const int32x4_t sum0 = vaddq_s32(tile.sum[7][0], bias0);
            const int32x4_t sum1 = vaddq_s32(tile.sum[7][1], bias1);
            int16_t *const out = y + row7 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), least), most);
            vst1q_s16(out + 0, codes0);
        }
    }
}

/* Convolution [8, 16, 16] to [8, 16, 40], 3x3 window, stride 1x1, eight rows at a time. */
EDGEC_SEPARATE void dense_8x8_s16_dot_s8_0(const int16_t *x, int16_t *y, int8_t *scratch, const edgec_conv16_params_t *params)
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
        ROW = 288,
        PIXEL = 16,
        TOGETHER = 8,
    };
    memset(scratch, 0, 880);
    memset(scratch + 880, EDGEC_NEON_LOW_ZERO, 880);
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ky = 0; ky < KERNEL_H; ky++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
            int8_t *const row = scratch + ky * ROW;
            if (iy < 0 || iy >= HEIGHT) {
                memset(row, 0, ROW);
                memset(row + 880, EDGEC_NEON_LOW_ZERO, ROW);
            } else {
                edgec_neon_split(row + PAD_LEFT * CHANNELS, row + 880 + PAD_LEFT * CHANNELS, x + iy * WIDTH * CHANNELS, 256);
            }
        }
        for (int32_t first = 0; first < OUT_WIDTH; first += TOGETHER) {
            const int8_t *const from = scratch + first * PIXEL;
            const int8_t *rows[TOGETHER];
            for (int32_t t = 0; t < TOGETHER; t++) {
                rows[t] = from + t * PIXEL;
            }
            dense_8x8_s16_dot_s8_0_tile(rows, params, y + (oy * OUT_WIDTH + first) * UNITS);
        }
    }
}
