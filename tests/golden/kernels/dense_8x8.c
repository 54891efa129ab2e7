EDGEC_NEON_DOT8(dense_8x8_s8_dot_s8_0_sums, EDGEC_NEON_DOT_BEGIN EDGEC_NEON_DOT_EVEN, EDGEC_NEON_DOT_NO_NEXT)
EDGEC_SEPARATE void dense_8x8_s8_dot_s8_0_tile(const int8_t *const *rows, const edgec_conv_params_t *params,
int8_t *y, int32_t count)
{
    enum { UNITS = 13, LINES = 1, STEP = 0, PAIRS = 0 };
    const edgec_conv_params_t p = *params;
    const int16x8_t y_zero_point = vdupq_n_s16((int16_t)p.y_zero_point);
    const int8x16_t least = vdupq_n_s8((int8_t)p.act_min);
    const int8x16_t most = vdupq_n_s8((int8_t)p.act_max);
    const int32_t row0 = 0;
    const int32_t row1 = edgec_min_s32(count - 1, 1) * UNITS;
    const int32_t row2 = edgec_min_s32(count - 1, 2) * UNITS;
    const int32_t row3 = edgec_min_s32(count - 1, 3) * UNITS;
    const int32_t row4 = edgec_min_s32(count - 1, 4) * UNITS;
    const int32_t row5 = edgec_min_s32(count - 1, 5) * UNITS;
    const int32_t row6 = edgec_min_s32(count - 1, 6) * UNITS;
    const int32_t row7 = edgec_min_s32(count - 1, 7) * UNITS;
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < 8; o += 8) {
        const int32x4_t multiplier0 = vld1q_s32(p.multiplier + o + 0);
        const int32x4_t multiplier1 = vld1q_s32(p.multiplier + o + 4);
        const edgec_neon_dot_t tile = dense_8x8_s8_dot_s8_0_sums(rows, &weights, LINES, PAIRS, STEP, p.bias + o);
        {
            const int32x4_t sum0 = tile.sum[0][0];
            const int32x4_t sum1 = tile.sum[0][1];
            int8_t *const out = y + row0 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[1][0];
            const int32x4_t sum1 = tile.sum[1][1];
            int8_t *const out = y + row1 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[2][0];
            const int32x4_t sum1 = tile.sum[2][1];
            int8_t *const out = y + row2 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[3][0];
            const int32x4_t sum1 = tile.sum[3][1];
            int8_t *const out = y + row3 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[4][0];
            const int32x4_t sum1 = tile.sum[4][1];
            int8_t *const out = y + row4 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[5][0];
            const int32x4_t sum1 = tile.sum[5][1];
            int8_t *const out = y + row5 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[6][0];
            const int32x4_t sum1 = tile.sum[6][1];
            int8_t *const out = y + row6 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
        {
            const int32x4_t sum0 = tile.sum[7][0];
            const int32x4_t sum1 = tile.sum[7][1];
            int8_t *const out = y + row7 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            vst1_s8(out, limited);
        }
    }
    {
        const int32x4_t multiplier0 = vld1q_s32(p.multiplier + o + 0);
        const int32x4_t multiplier1 = vld1q_s32(p.multiplier + o + 4);
        const edgec_neon_dot_t tile = dense_8x8_s8_dot_s8_0_sums(rows, &weights, LINES, PAIRS, STEP, p.bias + o);
        {
            const int32x4_t sum0 = tile.sum[0][0];
            const int32x4_t sum1 = tile.sum[0][1];
            int8_t *const out = y + row0 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[1][0];
            const int32x4_t sum1 = tile.sum[1][1];
            int8_t *const out = y + row1 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[2][0];
            const int32x4_t sum1 = tile.sum[2][1];
            int8_t *const out = y + row2 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[3][0];
            const int32x4_t sum1 = tile.sum[3][1];
            int8_t *const out = y + row3 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[4][0];
            const int32x4_t sum1 = tile.sum[4][1];
            int8_t *const out = y + row4 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[5][0];
            const int32x4_t sum1 = tile.sum[5][1];
            int8_t *const out = y + row5 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[6][0];
            const int32x4_t sum1 = tile.sum[6][1];
            int8_t *const out = y + row6 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
        {
            const int32x4_t sum0 = tile.sum[7][0];
            const int32x4_t sum1 = tile.sum[7][1];
            int8_t *const out = y + row7 + o;
            const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier0), 7);
            const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier1), 7);
            const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
            const int8x8_t limited = vmin_s8(vmax_s8(vqmovn_s16(codes0), vget_low_s8(least)), vget_low_s8(most));
            memcpy(out, &limited, 5);
        }
    }
}

/* Convolution [1, 21, 32] to [1, 21, 13], 1x1 window, stride 1x1, eight rows at a time. */
EDGEC_SEPARATE void dense_8x8_s8_dot_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    enum {
        UNITS = 13,
        ROWS = 21,
        DEPTH = 32,
        PIXEL = 32,
        TOGETHER = 8,
    };
    (void)scratch;
    for (int32_t first = 0; first < ROWS; first += TOGETHER) {
        const int32_t count = edgec_min_s32(ROWS - first, TOGETHER);
        const int8_t *const from = x + first * DEPTH;
        const int8_t *rows[TOGETHER];
        for (int32_t t = 0; t < TOGETHER; t++) {
            rows[t] = from + edgec_min_s32(t, count - 1) * PIXEL;
        }
        dense_8x8_s8_dot_s8_0_tile(rows, params, y + (first) * UNITS, count);
    }
}
