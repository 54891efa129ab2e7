EDGEC_SEPARATE void tile_4x4_s8_0_4(const int8_t *packed, const edgec_rescale16_params_t *params,
const edgec_s16_t *extra, edgec_s16_t *y, int32_t count)
{
    enum { UNITS = 8, REST = 0, BLOCKS = 1 };
    const edgec_rescale16_params_t p = *params;
    const int32_t row0 = 0;
    /* Rows beyond the last one repeat it. */
    const int32_t row1 = edgec_min_s32(count - 1, 1) * UNITS;
    const int32_t row2 = edgec_min_s32(count - 1, 2) * UNITS;
    const int32_t row3 = edgec_min_s32(count - 1, 3) * UNITS;
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile4(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int16x4_t multiplier = vld1_s16(p.multiplier + o);
        const int32x4_t product0 = vmull_s16(vqmovn_s32(vaddq_s32(tile.row[0], bias)), multiplier);
        const int32x4_t scaled0 = vrshrq_n_s32(product0, 9);
        const int16x4_t code0 = vqmovn_s32(vaddw_s16(scaled0, vld1_s16(extra + row0 + o)));
        const int32x4_t product1 = vmull_s16(vqmovn_s32(vaddq_s32(tile.row[1], bias)), multiplier);
        const int32x4_t scaled1 = vrshrq_n_s32(product1, 9);
        const int16x4_t code1 = vqmovn_s32(vaddw_s16(scaled1, vld1_s16(extra + row1 + o)));
        const int16x8_t pair0 = vcombine_s16(code0, code1);
        const int16x8_t y0 = pair0;
        edgec_neon_put_s16(y + row0 + o, vget_low_s16(y0), 4);
        edgec_neon_put_s16(y + row1 + o, vget_high_s16(y0), 4);
        const int32x4_t product2 = vmull_s16(vqmovn_s32(vaddq_s32(tile.row[2], bias)), multiplier);
        const int32x4_t scaled2 = vrshrq_n_s32(product2, 9);
        const int16x4_t code2 = vqmovn_s32(vaddw_s16(scaled2, vld1_s16(extra + row2 + o)));
        const int32x4_t product3 = vmull_s16(vqmovn_s32(vaddq_s32(tile.row[3], bias)), multiplier);
        const int32x4_t scaled3 = vrshrq_n_s32(product3, 9);
        const int16x4_t code3 = vqmovn_s32(vaddw_s16(scaled3, vld1_s16(extra + row3 + o)));
        const int16x8_t pair2 = vcombine_s16(code2, code3);
        const int16x8_t y2 = pair2;
        edgec_neon_put_s16(y + row2 + o, vget_low_s16(y2), 4);
        edgec_neon_put_s16(y + row3 + o, vget_high_s16(y2), 4);
    }
}

EDGEC_SEPARATE void tile_4x4_s8_0_1(const int8_t *packed, const edgec_rescale16_params_t *params,
const edgec_s16_t *extra, edgec_s16_t *y)
{
    enum { UNITS = 8, REST = 0, BLOCKS = 1 };
    const edgec_rescale16_params_t p = *params;
    const int32_t row0 = 0;
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += BLOCKS * EDGEC_NEON_BLOCK) {
        const edgec_neon_tile_t tile = edgec_neon_tile1(packed, weights, BLOCKS);
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int16x4_t multiplier = vld1_s16(p.multiplier + o);
        const int32x4_t product0 = vmull_s16(vqmovn_s32(vaddq_s32(tile.row[0], bias)), multiplier);
        const int32x4_t scaled0 = vrshrq_n_s32(product0, 9);
        const int16x4_t code0 = vqmovn_s32(vaddw_s16(scaled0, vld1_s16(extra + row0 + o)));
        const int16x8_t pair0 = vcombine_s16(code0, code0);
        const int16x8_t y0 = pair0;
        edgec_neon_put_s16(y + row0 + o, vget_low_s16(y0), 4);
    }
}

/* Convolution [5, 5, 12] to [5, 5, 8], 1x1 window, stride 1x1, four rows at a time. */
static void tile_4x4_s8_0(const int8_t *x, const edgec_s16_t *residual, edgec_s16_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        UNITS = 8,
        ROWS = 25,
        DEPTH = 12,
    };
    int8_t *const packed = scratch;
    /* Weights beyond the last one are zero; what they multiply must only be defined. */
    memset(packed + 0 * EDGEC_NEON_BLOCK, 0, EDGEC_NEON_BLOCK);
    /* The residual may lie where y is written, so that of a block is copied first. */
    edgec_s16_t *const added = (edgec_s16_t *)(void *)(scratch + 64);
    for (int32_t first = 0; first < ROWS; first += EDGEC_NEON_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_NEON_ROWS);
        for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
            /* Rows beyond the last one repeat it; their sums are not stored. */
            edgec_neon_spread(x + (first + edgec_min_s32(t, count - 1)) * DEPTH, packed + t * EDGEC_NEON_LANES, DEPTH);
        }
        memcpy(added, residual + first * UNITS, (size_t)(count * UNITS) * sizeof *added);
        if (count == 1) {
            tile_4x4_s8_0_1(packed, params, added, y + first * UNITS);
        } else {
            tile_4x4_s8_0_4(packed, params, added, y + first * UNITS, count);
        }
    }
}
