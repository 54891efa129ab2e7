EDGEC_SEPARATE void tile_4x4_s8_0_4(const int8_t *packed, const edgec_offset_params_t *params,
int8_t *y, int32_t count)
{
    enum { UNITS = 7, REST = 3, BLOCKS = 1 };
    const edgec_offset_params_t p = *params;
    const int32_t row0 = 0;
    /* Rows beyond the last one repeat it. */
    const int32_t row1 = edgec_min_s32(count - 1, 1) * UNITS;
    const int32_t row2 = edgec_min_s32(count - 1, 2) * UNITS;
    const int32_t row3 = edgec_min_s32(count - 1, 3) * UNITS;
    const int8x8_t least = vdup_n_s8(p.act_min);
    const int8x8_t most = vdup_n_s8(p.act_max);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t offset = vld1q_s32(p.offset + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_offset(sum0, multiplier, offset, 5));
        const int32x4_t sum1 = vaddq_s32(tile.row[1], bias);
        const int16x4_t code1 = vqmovn_s32(edgec_neon_offset(sum1, multiplier, offset, 5));
        const int16x8_t pair0 = vcombine_s16(code0, code1);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 4);
        edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(y0, 1), 4);
        const int32x4_t sum2 = vaddq_s32(tile.row[2], bias);
        const int16x4_t code2 = vqmovn_s32(edgec_neon_offset(sum2, multiplier, offset, 5));
        const int32x4_t sum3 = vaddq_s32(tile.row[3], bias);
        const int16x4_t code3 = vqmovn_s32(edgec_neon_offset(sum3, multiplier, offset, 5));
        const int16x8_t pair2 = vcombine_s16(code2, code3);
        const int8x8_t y2 = vmin_s8(vmax_s8(vqmovn_s16(pair2), least), most);
        edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(y2, 0), 4);
        edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(y2, 1), 4);
    }
    {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t offset = vld1q_s32(p.offset + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_offset(sum0, multiplier, offset, 5));
        const int32x4_t sum1 = vaddq_s32(tile.row[1], bias);
        const int16x4_t code1 = vqmovn_s32(edgec_neon_offset(sum1, multiplier, offset, 5));
        const int16x8_t pair0 = vcombine_s16(code0, code1);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 3);
        edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(y0, 1), 3);
        const int32x4_t sum2 = vaddq_s32(tile.row[2], bias);
        const int16x4_t code2 = vqmovn_s32(edgec_neon_offset(sum2, multiplier, offset, 5));
        const int32x4_t sum3 = vaddq_s32(tile.row[3], bias);
        const int16x4_t code3 = vqmovn_s32(edgec_neon_offset(sum3, multiplier, offset, 5));
        const int16x8_t pair2 = vcombine_s16(code2, code3);
        const int8x8_t y2 = vmin_s8(vmax_s8(vqmovn_s16(pair2), least), most);
        edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(y2, 0), 3);
        edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(y2, 1), 3);
    }
}

EDGEC_SEPARATE void tile_4x4_s8_0_1(const int8_t *packed, const edgec_offset_params_t *params,
int8_t *y)
{
    enum { UNITS = 7, REST = 3, BLOCKS = 1 };
    const edgec_offset_params_t p = *params;
    const int32_t row0 = 0;
    const int8x8_t least = vdup_n_s8(p.act_min);
    const int8x8_t most = vdup_n_s8(p.act_max);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t offset = vld1q_s32(p.offset + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_offset(sum0, multiplier, offset, 5));
        const int16x8_t pair0 = vcombine_s16(code0, code0);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 4);
    }
    {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t offset = vld1q_s32(p.offset + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t code0 = vqmovn_s32(edgec_neon_offset(sum0, multiplier, offset, 5));
        const int16x8_t pair0 = vcombine_s16(code0, code0);
        const int8x8_t y0 = vmin_s8(vmax_s8(vqmovn_s16(pair0), least), most);
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(y0, 0), 3);
    }
}

/* Convolution [5, 5, 12] to [5, 5, 7], 1x1 window, stride 1x1, four rows at a time. */
static void tile_4x4_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_offset_params_t *params)
{
    enum {
        UNITS = 7,
        ROWS = 25,
        DEPTH = 12,
    };
    int8_t *const packed = scratch;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(packed + 0 * EDGEC_NEON_BLOCK, 0, EDGEC_NEON_BLOCK);
    for (int32_t first = 0; first < ROWS; first += EDGEC_NEON_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_NEON_ROWS);
        for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
            /* Rows beyond the last one repeat it; their sums are not stored. */
            edgec_neon_spread(x + (first + edgec_min_s32(t, count - 1)) * DEPTH, packed + t * EDGEC_NEON_LANES, DEPTH);
        }
        if (count == 1) {
            tile_4x4_s8_0_1(packed, params, y + first * UNITS);
        } else {
            tile_4x4_s8_0_4(packed, params, y + first * UNITS, count);
        }
    }
}
