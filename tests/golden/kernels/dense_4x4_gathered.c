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
    const int32x4_t y_zero_point = vdupq_n_s32(p.y_zero_point);
    const int32x4_t act_min = vdupq_n_s32(p.act_min);
    const int32x4_t act_max = vdupq_n_s32(p.act_max);
    const int8x8_t least = vdup_n_s8((int8_t)add->act_min);
    const int8x8_t most = vdup_n_s8((int8_t)add->act_max);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int32x4_t value0 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum0, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_add(value0, edgec_neon_four_s8(extra + row0 + o), add, 12));
        const int32x4_t sum1 = vaddq_s32(tile.row[1], bias);
        const int32x4_t value1 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum1, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code1 = vqmovn_s32(edgec_neon_add(value1, edgec_neon_four_s8(extra + row1 + o), add, 12));
        const int16x8_t pair0 = vcombine_s16(code0, code1);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 4);
        edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(y0, 1), 4);
        const int32x4_t sum2 = vaddq_s32(tile.row[2], bias);
        const int32x4_t value2 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum2, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code2 = vqmovn_s32(edgec_neon_add(value2, edgec_neon_four_s8(extra + row2 + o), add, 12));
        const int32x4_t sum3 = vaddq_s32(tile.row[3], bias);
        const int32x4_t value3 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum3, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code3 = vqmovn_s32(edgec_neon_add(value3, edgec_neon_four_s8(extra + row3 + o), add, 12));
        const int16x8_t pair2 = vcombine_s16(code2, code3);
        const int8x8_t y2 = vmin_s8(vmax_s8(vqmovn_s16(pair2), least), most);
        edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(y2, 0), 4);
        edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(y2, 1), 4);
    }
    {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int32x4_t value0 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum0, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_add(value0, edgec_neon_four_s8(extra + row0 + o), add, 12));
        const int32x4_t sum1 = vaddq_s32(tile.row[1], bias);
        const int32x4_t value1 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum1, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code1 = vqmovn_s32(edgec_neon_add(value1, edgec_neon_four_s8(extra + row1 + o), add, 12));
        const int16x8_t pair0 = vcombine_s16(code0, code1);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 2);
        edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(y0, 1), 2);
        const int32x4_t sum2 = vaddq_s32(tile.row[2], bias);
        const int32x4_t value2 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum2, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code2 = vqmovn_s32(edgec_neon_add(value2, edgec_neon_four_s8(extra + row2 + o), add, 12));
        const int32x4_t sum3 = vaddq_s32(tile.row[3], bias);
        const int32x4_t value3 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum3, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code3 = vqmovn_s32(edgec_neon_add(value3, edgec_neon_four_s8(extra + row3 + o), add, 12));
        const int16x8_t pair2 = vcombine_s16(code2, code3);
        const int8x8_t y2 = vmin_s8(vmax_s8(vqmovn_s16(pair2), least), most);
        edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(y2, 0), 2);
        edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(y2, 1), 2);
    }
}

EDGEC_SEPARATE void dense_4x4_s8_neon_s8_0_1(const int8_t *packed, const edgec_conv_params_t *params,
const int8_t *extra, const edgec_add_params_t *add, int8_t *y)
{
    enum { UNITS = 6, REST = 2, BLOCKS = 1 };
    const edgec_conv_params_t p = *params;
    const int32_t row0 = 0;
    const int32x4_t y_zero_point = vdupq_n_s32(p.y_zero_point);
    const int32x4_t act_min = vdupq_n_s32(p.act_min);
    const int32x4_t act_max = vdupq_n_s32(p.act_max);
    const int8x8_t least = vdup_n_s8((int8_t)add->act_min);
    const int8x8_t most = vdup_n_s8((int8_t)add->act_max);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int32x4_t value0 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum0, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_add(value0, edgec_neon_four_s8(extra + row0 + o), add, 12));
        const int16x8_t pair0 = vcombine_s16(code0, code0);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 4);
    }
    {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int32x4_t value0 = vminq_s32(vmaxq_s32(vqaddq_s32(EDGEC_NEON_REQUANTIZE(sum0, multiplier, 32), y_zero_point), act_min), act_max);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_add(value0, edgec_neon_four_s8(extra + row0 + o), add, 12));
        const int16x8_t pair0 = vcombine_s16(code0, code0);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 2);
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
        UNITS = 6,
        ROWS = 9,
        DEPTH = 12,
    };
    int8_t *const packed = scratch;
    const edgec_conv_params_t p = *params;
    int8_t *const patch = scratch + 64;
    int32_t oy = 0;
    int32_t ox = 0;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(packed + 0 * EDGEC_NEON_BLOCK, 0, EDGEC_NEON_BLOCK);
    /* The residual may lie where y is written, so that of a block is copied first. */
    int8_t *const added = (int8_t *)(void *)(scratch + 80);
    for (int32_t first = 0; first < ROWS; first += EDGEC_NEON_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_NEON_ROWS);
        for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
            /* Rows beyond the last one repeat it; their sums are not stored. */
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                int8_t *const to = patch + ky * (KERNEL_W * CHANNELS);
                if (iy < 0 || iy >= HEIGHT) {
                    memset(to, p.x_zero_point, (size_t)(KERNEL_W * CHANNELS));
                    continue;
                }
                if (ix < 0 || ix > WIDTH - KERNEL_W) {
                    for (int32_t kx = 0; kx < KERNEL_W; kx++) {
                        if (ix + kx >= 0 && ix + kx < WIDTH) {
                            memcpy(to + kx * CHANNELS, x + (iy * WIDTH + ix + kx) * CHANNELS, (size_t)CHANNELS);
                        } else {
                            memset(to + kx * CHANNELS, p.x_zero_point, (size_t)CHANNELS);
                        }
                    }
                    continue;
                }
                memcpy(to, x + (iy * WIDTH + ix) * CHANNELS, (size_t)(KERNEL_W * CHANNELS));
            }
            edgec_neon_spread(patch, packed + t * EDGEC_NEON_LANES, DEPTH);
            if (t < count - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        ox++;
        oy += (ox == OUT_WIDTH) ? 1 : 0;
        ox = (ox == OUT_WIDTH) ? 0 : ox;
        memcpy(added, residual + first * UNITS, (size_t)(count * UNITS) * sizeof *added);
        if (count == 1) {
            dense_4x4_s8_neon_s8_0_1(packed, params, added, add, y + first * UNITS);
        } else {
            dense_4x4_s8_neon_s8_0_4(packed, params, added, add, y + first * UNITS, count);
        }
    }
}
