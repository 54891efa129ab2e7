EDGEC_SEPARATE void dense_4x4_s8_neon_s8_0_4(const int8_t *packed, const edgec_conv_params_t *params,
const int8_t *extra, const edgec_add_params_t *add, int8_t *y, int32_t count)
{
    enum { UNITS = 6, REST = 2, BLOCKS = 1 };
    const edgec_conv_params_t p = *params;
    const int32_t row0 = 0;
    /* Rows beyond the last one repeat it. */
    const int32_t row1 = edgec_min_s32(count - 1, 1) * UNITS;
    const int32_t row2 = edgec_min_s32(count - 1, 2) * UNITS;
    const int32_t row3 = edgec_min_s32(count - 1, 3) * UNITS;
    /* Codes of the layer without their zero point, which is that of the first operand. */
    const int16x8_t act_min = vdupq_n_s16((int16_t)(p.act_min - add->a_zero_point));
    const int16x8_t act_max = vdupq_n_s16((int16_t)(p.act_max - add->a_zero_point));
    const int8x8_t b_zero_point = vdup_n_s8((int8_t)add->b_zero_point);
    const int16x8_t add_zero_point = vdupq_n_s16((int16_t)add->y_zero_point);
    const int8x16_t least = vdupq_n_s8((int8_t)add->act_min);
    const int8x16_t most = vdupq_n_s8((int8_t)add->act_max);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier), 1);
        const int32x4_t sum1 = vaddq_s32(tile.row[1], bias);
        const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier), 1);
        const int32x4_t sum2 = vaddq_s32(tile.row[2], bias);
        const int16x4_t four2 = vqrshrn_n_s32(vqdmulhq_s32(sum2, multiplier), 1);
        const int32x4_t sum3 = vaddq_s32(tile.row[3], bias);
        const int16x4_t four3 = vqrshrn_n_s32(vqdmulhq_s32(sum3, multiplier), 1);
        const int16x8_t value0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), act_min), act_max);
        const int16x8_t other0 = vsubl_s8(edgec_neon_two_fours(extra + row0 + o, extra + row1 + o), b_zero_point);
        const int32x4_t low0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_low_s16(value0)), add->a_multiplier), vmovl_s16(vget_low_s16(other0)), add->b_multiplier);
        const int32x4_t high0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_high_s16(value0)), add->a_multiplier), vmovl_s16(vget_high_s16(other0)), add->b_multiplier);
        const int16x8_t codes0 = vqaddq_s16(vcombine_s16(vqrshrn_n_s32(low0, 12), vqrshrn_n_s32(high0, 12)), add_zero_point);
        const int16x8_t value2 = vminq_s16(vmaxq_s16(vcombine_s16(four2, four3), act_min), act_max);
        const int16x8_t other2 = vsubl_s8(edgec_neon_two_fours(extra + row2 + o, extra + row3 + o), b_zero_point);
        const int32x4_t low2 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_low_s16(value2)), add->a_multiplier), vmovl_s16(vget_low_s16(other2)), add->b_multiplier);
        const int32x4_t high2 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_high_s16(value2)), add->a_multiplier), vmovl_s16(vget_high_s16(other2)), add->b_multiplier);
        const int16x8_t codes2 = vqaddq_s16(vcombine_s16(vqrshrn_n_s32(low2, 12), vqrshrn_n_s32(high2, 12)), add_zero_point);
        const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes2));
        const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(limited, 0), 4);
        edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(limited, 1), 4);
        edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(limited, 2), 4);
        edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(limited, 3), 4);
    }
    {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier), 1);
        const int32x4_t sum1 = vaddq_s32(tile.row[1], bias);
        const int16x4_t four1 = vqrshrn_n_s32(vqdmulhq_s32(sum1, multiplier), 1);
        const int32x4_t sum2 = vaddq_s32(tile.row[2], bias);
        const int16x4_t four2 = vqrshrn_n_s32(vqdmulhq_s32(sum2, multiplier), 1);
        const int32x4_t sum3 = vaddq_s32(tile.row[3], bias);
        const int16x4_t four3 = vqrshrn_n_s32(vqdmulhq_s32(sum3, multiplier), 1);
        const int16x8_t value0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four1), act_min), act_max);
        const int16x8_t other0 = vsubl_s8(edgec_neon_two_fours(extra + row0 + o, extra + row1 + o), b_zero_point);
        const int32x4_t low0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_low_s16(value0)), add->a_multiplier), vmovl_s16(vget_low_s16(other0)), add->b_multiplier);
        const int32x4_t high0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_high_s16(value0)), add->a_multiplier), vmovl_s16(vget_high_s16(other0)), add->b_multiplier);
        const int16x8_t codes0 = vqaddq_s16(vcombine_s16(vqrshrn_n_s32(low0, 12), vqrshrn_n_s32(high0, 12)), add_zero_point);
        const int16x8_t value2 = vminq_s16(vmaxq_s16(vcombine_s16(four2, four3), act_min), act_max);
        const int16x8_t other2 = vsubl_s8(edgec_neon_two_fours(extra + row2 + o, extra + row3 + o), b_zero_point);
        const int32x4_t low2 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_low_s16(value2)), add->a_multiplier), vmovl_s16(vget_low_s16(other2)), add->b_multiplier);
        const int32x4_t high2 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_high_s16(value2)), add->a_multiplier), vmovl_s16(vget_high_s16(other2)), add->b_multiplier);
        const int16x8_t codes2 = vqaddq_s16(vcombine_s16(vqrshrn_n_s32(low2, 12), vqrshrn_n_s32(high2, 12)), add_zero_point);
        const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes2));
        const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(limited, 0), 2);
        edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(limited, 1), 2);
        edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(limited, 2), 2);
        edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(limited, 3), 2);
    }
}

EDGEC_SEPARATE void dense_4x4_s8_neon_s8_0_1(const int8_t *packed, const edgec_conv_params_t *params,
const int8_t *extra, const edgec_add_params_t *add, int8_t *y)
{
    enum { UNITS = 6, REST = 2, BLOCKS = 1 };
    const edgec_conv_params_t p = *params;
    const int32_t row0 = 0;
    /* Codes of the layer without their zero point, which is that of the first operand. */
    const int16x8_t act_min = vdupq_n_s16((int16_t)(p.act_min - add->a_zero_point));
    const int16x8_t act_max = vdupq_n_s16((int16_t)(p.act_max - add->a_zero_point));
    const int8x8_t b_zero_point = vdup_n_s8((int8_t)add->b_zero_point);
    const int16x8_t add_zero_point = vdupq_n_s16((int16_t)add->y_zero_point);
    const int8x16_t least = vdupq_n_s8((int8_t)add->act_min);
    const int8x16_t most = vdupq_n_s8((int8_t)add->act_max);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier), 1);
        const int16x8_t value0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four0), act_min), act_max);
        const int16x8_t other0 = vsubl_s8(edgec_neon_two_fours(extra + row0 + o, extra + row0 + o), b_zero_point);
        const int32x4_t low0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_low_s16(value0)), add->a_multiplier), vmovl_s16(vget_low_s16(other0)), add->b_multiplier);
        const int32x4_t high0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_high_s16(value0)), add->a_multiplier), vmovl_s16(vget_high_s16(other0)), add->b_multiplier);
        const int16x8_t codes0 = vqaddq_s16(vcombine_s16(vqrshrn_n_s32(low0, 12), vqrshrn_n_s32(high0, 12)), add_zero_point);
        const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes0));
        const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(limited, 0), 4);
    }
    {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier), 1);
        const int16x8_t value0 = vminq_s16(vmaxq_s16(vcombine_s16(four0, four0), act_min), act_max);
        const int16x8_t other0 = vsubl_s8(edgec_neon_two_fours(extra + row0 + o, extra + row0 + o), b_zero_point);
        const int32x4_t low0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_low_s16(value0)), add->a_multiplier), vmovl_s16(vget_low_s16(other0)), add->b_multiplier);
        const int32x4_t high0 = vmlaq_n_s32(vmulq_n_s32(vmovl_s16(vget_high_s16(value0)), add->a_multiplier), vmovl_s16(vget_high_s16(other0)), add->b_multiplier);
        const int16x8_t codes0 = vqaddq_s16(vcombine_s16(vqrshrn_n_s32(low0, 12), vqrshrn_n_s32(high0, 12)), add_zero_point);
        const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes0));
        const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(limited, 0), 2);
    }
}

/* Convolution [5, 5, 3] to [3, 3, 6], 2x2 window, stride 2x2, four rows at a time. */
static void dense_4x4_s8_neon_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum {
        HEIGHT = 5,
        WIDTH = 5,
        CHANNELS = 3,
        OUT_HEIGHT = 3,
        OUT_WIDTH = 3,
        KERNEL_H = 2,
        KERNEL_W = 2,
        STRIDE_H = 2,
        STRIDE_W = 2,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        ROW = 18,
        RUN = 6,
        UNITS = 6,
        ROWS = 9,
        DEPTH = 12,
    };
    const edgec_conv_params_t p = *params;
    memset(scratch, p.x_zero_point, 52);
    int8_t *const packed = scratch + 64;
    int8_t *const patch = scratch + 128;
    int32_t oy = 0;
    int32_t ox = 0;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(patch, 0, 32);
    /* The residual may lie where y is written, so that of a block is copied first. */
    int8_t *const added = (int8_t *)(void *)(scratch + 160);
    for (int32_t first = 0; first < ROWS; first += EDGEC_NEON_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_NEON_ROWS);
        for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
            /* Rows beyond the last one repeat it; their sums are not stored. */
            if (ox == 0) {
                for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                    const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                    int8_t *const row = scratch + ky * ROW;
                    if (iy < 0 || iy >= HEIGHT) {
                        memset(row, p.x_zero_point, ROW);
                    } else {
                        edgec_neon_copy(row + PAD_LEFT * CHANNELS, x + iy * WIDTH * CHANNELS, 15);
                    }
                }
            }
            const int8_t *const from = scratch + ox * STRIDE_W * CHANNELS;
            edgec_neon_copy_whole(patch + 0 * RUN, from + 0 * ROW, RUN);
            edgec_neon_copy_whole(patch + 1 * RUN, from + 1 * ROW, RUN);
            edgec_neon_spread_whole(patch, packed + t * EDGEC_NEON_LANES, 1);
            if (t < count - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        ox++;
        oy += (ox == OUT_WIDTH) ? 1 : 0;
        ox = (ox == OUT_WIDTH) ? 0 : ox;
        if (count == EDGEC_NEON_ROWS) {
            memcpy(added, residual + first * UNITS, EDGEC_NEON_ROWS * UNITS * sizeof *added);
        } else {
            memcpy(added, residual + first * UNITS, (size_t)(count * UNITS) * sizeof *added);
        }
        if (count == 1) {
            dense_4x4_s8_neon_s8_0_1(packed, params, added, add, y + first * UNITS);
        } else {
            dense_4x4_s8_neon_s8_0_4(packed, params, added, add, y + first * UNITS, count);
        }
    }
}
