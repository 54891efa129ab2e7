/* ---- Pooled convolution [5, 6, 4] to [5, 6, 6], 3x3 window, stride 1x1, pool [10, 8], 1 rows at a time. ---- */

/* Adds to the sums of all filters at 1 vectors of positions the responses of `entries` entries. */
EDGEC_SEPARATE void pooled_conv_neon_s8_0_gather1(const uint16_t *list, int32_t entries, const int16_t *table, int32_t *sums)
{
    for (int32_t o = 0; o < 6; o++) {
        int32x4_t low0 = vld1q_s32(sums + 8 * 0);
        int32x4_t high0 = vld1q_s32(sums + 8 * 0 + 4);
        const uint16_t *const end = list + entries;
        while (list != end) {
            const int16_t *from0 = edgec_pool_neon_place(table, list[0]);
            {
            int16x8_t sum0 = vld1q_s16(from0);
            const int16_t *from1 = edgec_pool_neon_place(table, list[1]);
            sum0 = vaddq_s16(sum0, vld1q_s16(from1));
            low0 = vaddw_s16(low0, vget_low_s16(sum0));
            high0 = vaddw_s16(high0, vget_high_s16(sum0));
            }
            edgec_pool_neon_pause();
            const int16_t *from2 = edgec_pool_neon_place(table, list[2]);
            {
            int16x8_t sum0 = vld1q_s16(from2);
            const int16_t *from3 = edgec_pool_neon_place(table, list[3]);
            sum0 = vaddq_s16(sum0, vld1q_s16(from3));
            low0 = vaddw_s16(low0, vget_low_s16(sum0));
            high0 = vaddw_s16(high0, vget_high_s16(sum0));
            }
            edgec_pool_neon_pause();
            const int16_t *from4 = edgec_pool_neon_place(table, list[4]);
            {
            int16x8_t sum0 = vld1q_s16(from4);
            const int16_t *from5 = edgec_pool_neon_place(table, list[5]);
            sum0 = vaddq_s16(sum0, vld1q_s16(from5));
            low0 = vaddw_s16(low0, vget_low_s16(sum0));
            high0 = vaddw_s16(high0, vget_high_s16(sum0));
            }
            edgec_pool_neon_pause();
            const int16_t *from6 = edgec_pool_neon_place(table, list[6]);
            {
            int16x8_t sum0 = vld1q_s16(from6);
            const int16_t *from7 = edgec_pool_neon_place(table, list[7]);
            sum0 = vaddq_s16(sum0, vld1q_s16(from7));
            low0 = vaddw_s16(low0, vget_low_s16(sum0));
            high0 = vaddw_s16(high0, vget_high_s16(sum0));
            }
            edgec_pool_neon_pause();
            const int16_t *from8 = edgec_pool_neon_place(table, list[8]);
            {
            int16x8_t sum0 = vld1q_s16(from8);
            low0 = vaddw_s16(low0, vget_low_s16(sum0));
            high0 = vaddw_s16(high0, vget_high_s16(sum0));
            }
            list += 9;
        }
        vst1q_s32(sums + 8 * 0, low0);
        vst1q_s32(sums + 8 * 0 + 4, high0);
        sums += 8;
    }
}

/* The list of a chunk of `groups` groups: the place of the responses of each index. */
EDGEC_SEPARATE void pooled_conv_neon_s8_0_list(const uint8_t *indices, int32_t groups, uint16_t *list)
{
    enum { FILTERS = 6, GROUP = 240 };
    const int32_t entries = 9 * groups;
    edgec_pool_neon_list(indices, 4, 24, FILTERS * entries, list);
    /* Places of group and tap, the same for every filter. */
    uint16_t places[9];
    uint16_t *next = places;
    for (int32_t place = 0; place < groups * GROUP; place += GROUP) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 1);
        next[2] = (uint16_t)(place + 2);
        next += 3;
    }
    for (int32_t place = 7; place < groups * GROUP; place += GROUP) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 1);
        next[2] = (uint16_t)(place + 2);
        next += 3;
    }
    for (int32_t place = 14; place < groups * GROUP; place += GROUP) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 1);
        next[2] = (uint16_t)(place + 2);
        next += 3;
    }
    edgec_pool_neon_add_places(list, places, entries, FILTERS);
}

/* Activations of `channels` channels for the outputs of a band from row `top` on. */
EDGEC_SEPARATE void pooled_conv_neon_s8_0_spread(const int8_t *x, int32_t top, int32_t channels,
    const edgec_pool_neon_width_t *width, int16_t *to)
{
    enum {
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 4,
        STEP = 1 * CHANNELS,
        ROWS = 3,
        PITCH = 7,
        PLANAR = 32,
    };
    for (int32_t first = 0; first < 8; first += 8) {
        edgec_pool_neon_pad(to, PLANAR, channels - first, width);
        if (first >= channels) {
            break;
        }
        for (int32_t i = 0; i < ROWS; i++) {
            const int32_t row = (top + i) * 1 + (-1);
            if (row < 0 || row >= HEIGHT) {
                continue;
            }
            for (int32_t c = 1; c < 7; c += 8) {
                const int8_t *const from = x + (row * WIDTH + (-1)) * CHANNELS + c * STEP;
                edgec_pool_neon_spread(from + first, STEP, 7 - c, channels - first,
                    width, 0, to + 0 + i * PITCH + c, PLANAR);
            }
        }
        to += 8 * PLANAR;
    }
}

/* Responses of a group at all positions. */
EDGEC_SEPARATE void pooled_conv_neon_s8_0_responses(const int16_t *x, const int8_t *pool, int16_t *table)
{
    enum { PLANAR = 32 };
    int32_t at = 0;
#if defined(__aarch64__)
    for (; at < 16; at += 16) {
        const int16x8_t x0_0 = vld1q_s16(x + 0 * PLANAR + at + 0 * 8);
        const int16x8_t x0_1 = vld1q_s16(x + 1 * PLANAR + at + 0 * 8);
        const int16x8_t x0_2 = vld1q_s16(x + 2 * PLANAR + at + 0 * 8);
        const int16x8_t x0_3 = vld1q_s16(x + 3 * PLANAR + at + 0 * 8);
        const int16x8_t x0_4 = vld1q_s16(x + 4 * PLANAR + at + 0 * 8);
        const int16x8_t x0_5 = vld1q_s16(x + 5 * PLANAR + at + 0 * 8);
        const int16x8_t x0_6 = vld1q_s16(x + 6 * PLANAR + at + 0 * 8);
        const int16x8_t x0_7 = vld1q_s16(x + 7 * PLANAR + at + 0 * 8);
        const int16x8_t x1_0 = vld1q_s16(x + 0 * PLANAR + at + 1 * 8);
        const int16x8_t x1_1 = vld1q_s16(x + 1 * PLANAR + at + 1 * 8);
        const int16x8_t x1_2 = vld1q_s16(x + 2 * PLANAR + at + 1 * 8);
        const int16x8_t x1_3 = vld1q_s16(x + 3 * PLANAR + at + 1 * 8);
        const int16x8_t x1_4 = vld1q_s16(x + 4 * PLANAR + at + 1 * 8);
        const int16x8_t x1_5 = vld1q_s16(x + 5 * PLANAR + at + 1 * 8);
        const int16x8_t x1_6 = vld1q_s16(x + 6 * PLANAR + at + 1 * 8);
        const int16x8_t x1_7 = vld1q_s16(x + 7 * PLANAR + at + 1 * 8);
        const int8_t *vector = pool;
        int16_t *to = table + at;
        for (int32_t s = 0; s < 10; s++) {
            const int16x8_t eight0 = vmovl_s8(vld1_s8(vector + 8 * 0));
            const int16x4_t weights0_0 = vget_low_s16(eight0);
            const int16x4_t weights0_1 = vget_high_s16(eight0);
            int16x8_t sum0 = vmulq_lane_s16(x0_0, weights0_0, 0);
            int16x8_t sum1 = vmulq_lane_s16(x1_0, weights0_0, 0);
            sum0 = vmlaq_lane_s16(sum0, x0_1, weights0_0, 1);
            sum1 = vmlaq_lane_s16(sum1, x1_1, weights0_0, 1);
            sum0 = vmlaq_lane_s16(sum0, x0_2, weights0_0, 2);
            sum1 = vmlaq_lane_s16(sum1, x1_2, weights0_0, 2);
            sum0 = vmlaq_lane_s16(sum0, x0_3, weights0_0, 3);
            sum1 = vmlaq_lane_s16(sum1, x1_3, weights0_0, 3);
            sum0 = vmlaq_lane_s16(sum0, x0_4, weights0_1, 0);
            sum1 = vmlaq_lane_s16(sum1, x1_4, weights0_1, 0);
            sum0 = vmlaq_lane_s16(sum0, x0_5, weights0_1, 1);
            sum1 = vmlaq_lane_s16(sum1, x1_5, weights0_1, 1);
            sum0 = vmlaq_lane_s16(sum0, x0_6, weights0_1, 2);
            sum1 = vmlaq_lane_s16(sum1, x1_6, weights0_1, 2);
            sum0 = vmlaq_lane_s16(sum0, x0_7, weights0_1, 3);
            sum1 = vmlaq_lane_s16(sum1, x1_7, weights0_1, 3);
            vst1q_s16(to + 0 * 8, sum0);
            vst1q_s16(to + 1 * 8, sum1);
            vector += 8;
            to += 24;
        }
    }
#endif
    for (; at < 24; at += 8) {
        const int16x8_t x0_0 = vld1q_s16(x + 0 * PLANAR + at + 0 * 8);
        const int16x8_t x0_1 = vld1q_s16(x + 1 * PLANAR + at + 0 * 8);
        const int16x8_t x0_2 = vld1q_s16(x + 2 * PLANAR + at + 0 * 8);
        const int16x8_t x0_3 = vld1q_s16(x + 3 * PLANAR + at + 0 * 8);
        const int16x8_t x0_4 = vld1q_s16(x + 4 * PLANAR + at + 0 * 8);
        const int16x8_t x0_5 = vld1q_s16(x + 5 * PLANAR + at + 0 * 8);
        const int16x8_t x0_6 = vld1q_s16(x + 6 * PLANAR + at + 0 * 8);
        const int16x8_t x0_7 = vld1q_s16(x + 7 * PLANAR + at + 0 * 8);
        const int8_t *vector = pool;
        int16_t *to = table + at;
        for (int32_t s = 0; s < 10; s++) {
            const int16x8_t eight0 = vmovl_s8(vld1_s8(vector + 8 * 0));
            const int16x4_t weights0_0 = vget_low_s16(eight0);
            const int16x4_t weights0_1 = vget_high_s16(eight0);
            int16x8_t sum0 = vmulq_lane_s16(x0_0, weights0_0, 0);
            sum0 = vmlaq_lane_s16(sum0, x0_1, weights0_0, 1);
            sum0 = vmlaq_lane_s16(sum0, x0_2, weights0_0, 2);
            sum0 = vmlaq_lane_s16(sum0, x0_3, weights0_0, 3);
            sum0 = vmlaq_lane_s16(sum0, x0_4, weights0_1, 0);
            sum0 = vmlaq_lane_s16(sum0, x0_5, weights0_1, 1);
            sum0 = vmlaq_lane_s16(sum0, x0_6, weights0_1, 2);
            sum0 = vmlaq_lane_s16(sum0, x0_7, weights0_1, 3);
            vst1q_s16(to + 0 * 8, sum0);
            vector += 8;
            to += 24;
        }
    }
}

/* Outputs of the sums of a band. */
EDGEC_SEPARATE void pooled_conv_neon_s8_0_store(const int32_t *sums, const edgec_conv_params_t *params,
int8_t *y)
{
    enum { UNITS = 6, REST = 2, OUT_WIDTH = 6, SUMS = 8 };
    const edgec_conv_params_t p = *params;
    const int16x8_t y_zero_point = vdupq_n_s16((int16_t)p.y_zero_point);
    const int8x16_t least = vdupq_n_s8((int8_t)p.act_min);
    const int8x16_t most = vdupq_n_s8((int8_t)p.act_max);
    const int32_t row0 = 0;
    const int32_t row1 = edgec_min_s32(1, OUT_WIDTH - 1) * UNITS;
    const int32_t row2 = edgec_min_s32(2, OUT_WIDTH - 1) * UNITS;
    const int32_t row3 = edgec_min_s32(3, OUT_WIDTH - 1) * UNITS;
    int8_t *const out = y;
    for (int32_t r = 0; r < 1; r++) {
        for (int32_t next = 0; next < OUT_WIDTH; next += 4) {
            const int32_t c = edgec_min_s32(next, 2);
            const int32_t *const at = sums + r * 7 + c;
            y = out + (r * OUT_WIDTH + c) * UNITS;
            int32_t o = 0;
            for (; o < UNITS - REST; o += 4) {
                const edgec_neon_tile_t tile = edgec_pool_neon_tile(at + o * SUMS, SUMS, 4, 0);
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
                const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
                const int16x8_t codes2 = vqaddq_s16(vcombine_s16(four2, four3), y_zero_point);
                const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes2));
                const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, least), most);
                edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(limited, 0), 4);
                edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(limited, 1), 4);
                edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(limited, 2), 4);
                edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(limited, 3), 4);
            }
            {
                const edgec_neon_tile_t tile = edgec_pool_neon_tile(at + o * SUMS, SUMS, 4, 0);
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
                const int16x8_t codes0 = vqaddq_s16(vcombine_s16(four0, four1), y_zero_point);
                const int16x8_t codes2 = vqaddq_s16(vcombine_s16(four2, four3), y_zero_point);
                const int8x16_t bytes = vcombine_s8(vqmovn_s16(codes0), vqmovn_s16(codes2));
                const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, least), most);
                edgec_neon_put_s8(y + row0 + o, EDGEC_NEON_FOUR(limited, 0), 2);
                edgec_neon_put_s8(y + row1 + o, EDGEC_NEON_FOUR(limited, 1), 2);
                edgec_neon_put_s8(y + row2 + o, EDGEC_NEON_FOUR(limited, 2), 2);
                edgec_neon_put_s8(y + row3 + o, EDGEC_NEON_FOUR(limited, 3), 2);
            }
        }
    }
}

/* Pooled convolution [5, 6, 4] to [5, 6, 6], 3x3 window, stride 1x1, pool [10, 8], 1 rows at a time. */
EDGEC_SEPARATE void pooled_conv_neon_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params)
{
    enum {
        CHANNELS = 4,
        CHUNK_CHANNELS = 8,
        OUT_HEIGHT = 5,
        BAND = 1,
        OUT_ROW = 6 * 6,
    };
    int16_t *const table = (int16_t *)(void *)scratch;
    int16_t *const planar = (int16_t *)(void *)(scratch + 480);
    uint16_t *const list = (uint16_t *)(void *)(scratch + 992);
    int32_t *const sums = (int32_t *)(void *)(scratch + 1104);
    int32_t *const biases = (int32_t *)(void *)(scratch + 1376);
    int32_t *const multipliers = biases + 8;
    const int8_t *const pool = params->table;
    const edgec_pool_neon_width_t width = edgec_pool_neon_width(params->x_zero_point, 0, 0, 0);
    memcpy(biases, params->bias, 6 * sizeof *biases);
    memcpy(multipliers, params->multiplier, 6 * sizeof *multipliers);
    const edgec_conv_params_t p = {
        .weights = pool,
        .bias = biases,
        .multiplier = multipliers,
        .x_zero_point = params->x_zero_point,
        .y_zero_point = params->y_zero_point,
        .act_min = params->act_min,
        .act_max = params->act_max,
    };
    pooled_conv_neon_s8_0_list(params->indices, 1, list);
    for (int32_t top = 0; top < OUT_HEIGHT; top += BAND) {
        memset(sums, 0, 256);
        for (int32_t first = 0; first < CHANNELS; first += CHUNK_CHANNELS) {
            const int32_t channels = edgec_min_s32(CHANNELS - first, CHUNK_CHANNELS);
            const int32_t groups = (channels + 7) / 8;
            pooled_conv_neon_s8_0_spread(x + first, top, channels, &width, planar);
            for (int32_t g = 0; g < groups; g++) {
                pooled_conv_neon_s8_0_responses(planar + g * 8 * 32, pool, table + g * 240);
            }
            for (int32_t at = 0; at < 8; at += 8) {
                pooled_conv_neon_s8_0_gather1(list, groups * 9, table + at, sums + at);
            }
        }
        pooled_conv_neon_s8_0_store(sums, &p, y + top * OUT_ROW);
    }
}
