/* Matrix product [1, 64] by [64, 64] of 1 bits by table, 32 filters at a time. */
EDGEC_SEPARATE void dense_1x32_table_neon_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params, const edgec_add_params_t *add)
{
    enum { UNITS = 64, REST = 0, DEPTH = 64, COLUMNS = 64, TURNS = 2, TILE_BYTES = 256 };
    const edgec_conv_params_t p = *params;
    const int32_t row0 = 0;
    /* Codes of the layer without their zero point, which is that of the first operand. */
    const int16x8_t act_min = vdupq_n_s16((int16_t)(p.act_min - add->a_zero_point));
    const int16x8_t act_max = vdupq_n_s16((int16_t)(p.act_max - add->a_zero_point));
    const int8x8_t b_zero_point = vdup_n_s8((int8_t)add->b_zero_point);
    const int16x8_t add_zero_point = vdupq_n_s16((int16_t)add->y_zero_point);
    const int8x16_t least = vdupq_n_s8((int8_t)add->act_min);
    const int8x16_t most = vdupq_n_s8((int8_t)add->act_max);
    uint8_t *const tables = (uint8_t *)scratch;
    int32_t *const sums = (int32_t *)(void *)(scratch + 512);
    /* The row lies where sums will. */
    int8_t *const row = scratch + 512;
    const int32_t excess = edgec_digits_row(x, row, DEPTH, COLUMNS) * 1;
    edgec_tables1(row, tables, COLUMNS);
    /* The residual may lie where y is written. */
    int8_t *const extra = (int8_t *)(void *)(scratch + 768);
    memcpy(extra, residual, UNITS * sizeof *extra);
    const uint8_t *weights = (const uint8_t *)p.weights;
    for (int32_t o = 0; o < UNITS; o += EDGEC_TABLE_FILTERS, weights += TILE_BYTES) {
        edgec_table_tile(tables, weights, TURNS, 2, excess, sums + o);
    }
    int32_t o = 0;
    for (; o < UNITS - REST; o += EDGEC_NEON_ROWS) {
        const edgec_neon_tile_t tile = {{vld1q_s32(sums + o)}};
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
}
