/* Matrix product [1, 200] by [10, 200] of 2 bits, four filters at a time. */
EDGEC_SEPARATE void dense_1x4_packed_neon_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    enum { UNITS = 10, REST = 2, DEPTH = 200, TURNS = 4, FOUR_BYTES = 256 };
    const edgec_conv_params_t p = *params;
    const int32_t row0 = 0;
    const int16x8_t y_zero_point = vdupq_n_s16((int16_t)p.y_zero_point);
    int8_t *const row = scratch;
    /* Digits exceed weights by this in sum. */
    const int32x4_t excess = vdupq_n_s32(edgec_digits_row(x, row, DEPTH, 256) * 2);
    const int8_t *weights = p.weights;
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS, weights += FOUR_BYTES) {
        const edgec_neon_tile_t tile = {{vsubq_s32(edgec_digits2(row, weights, TURNS), excess)}};
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier), 7);
        const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four0), y_zero_point);
        const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes0));
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(bytes, 0), 4);
    }
    {
        const edgec_neon_tile_t tile = {{vsubq_s32(edgec_digits2(row, weights, TURNS), excess)}};
        const int32x4_t bias = vld1q_s32(p.bias + o);
        const int32x4_t multiplier = vld1q_s32(p.multiplier + o);
        const int32x4_t sum0 = vaddq_s32(tile.row[0], bias);
        const int16x4_t four0 = vqrshrn_n_s32(vqdmulhq_s32(sum0, multiplier), 7);
        const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four0), y_zero_point);
        const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes0));
        edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(bytes, 0), 2);
    }
}
