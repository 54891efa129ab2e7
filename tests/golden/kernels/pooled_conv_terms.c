/* ---- Pooled convolution [5, 6, 4] to [5, 6, 6], 3x3 window, stride 1x1, sums of 3 vectors, pool [10, 4]. ---- */

static void pooled_conv_s8_0_responses(const uint32_t *pool, const uint32_t *sums, int32_t zero_point,
    const int8_t *a, const int8_t *b, int32_t step, int32_t channels, int32_t bits, uint32_t *out)
{
    enum {
        GROUP = 4,
        SIZE = 10,
        SHIFT = 4,
        ROW = 21,
    };
    (void)bits;
    const int32_t drop = 0;
    (void)zero_point;
    const int32_t zero = -128;
    (void)step;
    (void)sums;
    const uint32_t offset = edgec_pool_zero(zero, drop) * EDGEC_POOL_LANES;
    const edgec_pool_scale_t scale = edgec_pool_products_scale(SHIFT);
    for (int32_t first = 0; first < channels; first += GROUP) {
        uint32_t codes_a[GROUP / 4];
        edgec_pool_codes(codes_a, GROUP, (a != NULL) ? a + first : a,
            channels - first, zero);
        uint32_t codes_b[GROUP / 4];
        edgec_pool_codes(codes_b, GROUP, (b != NULL) ? b + first : b,
            channels - first, zero);
        const uint32_t word_a0 = edgec_pool_round(codes_a[0], drop);
        const uint32_t word_b0 = edgec_pool_round(codes_b[0], drop);
        const uint32_t x0 = (word_a0 >> 0 & 0xFFU)
            + ((word_b0 >> 0 & 0xFFU) << 16) - offset;
        const uint32_t x1 = (word_a0 >> 16 & 0xFFU)
            + ((word_b0 >> 16 & 0xFFU) << 16) - offset;
        const uint32_t x2 = (word_a0 >> 8 & 0xFFU)
            + ((word_b0 >> 8 & 0xFFU) << 16) - offset;
        const uint32_t x3 = (word_a0 >> 24 & 0xFFU)
            + ((word_b0 >> 24 & 0xFFU) << 16) - offset;
        const uint32_t *vector = pool;
        uint32_t *to = out;
        for (int32_t s = 0; s < SIZE; s++) {
            uint32_t sum = 0;
            sum += x0 * edgec_pool_low(vector[0]) + x1 * edgec_pool_high(vector[0]);
            sum += x2 * edgec_pool_low(vector[1]) + x3 * edgec_pool_high(vector[1]);
            vector += GROUP / 2;
            *to = edgec_pool_shifted(sum + scale.start, scale);
            to += ROW;
        }
        out += SIZE * ROW;
    }
}


EDGEC_POOL_GATHER8(pooled_conv_s8_0_gather8, 3)
/* The list of a chunk of `groups` groups from its indices. */
static void pooled_conv_s8_0_list(const uint8_t *indices, int32_t groups, uint16_t *list)
{
    enum { FILTERS = 6, VECTOR_BYTES = 84, GROUP_BYTES = 840 };
    const int32_t entries = 27 * groups;
    uint16_t *const end = list + FILTERS * entries;
    for (uint16_t *to = list; to < end; to += 8) {
        const uint32_t byte0 = indices[0];
        const uint32_t byte1 = indices[1];
        const uint32_t byte2 = indices[2];
        const uint32_t byte3 = indices[3];
        to[0] = (uint16_t)(((byte0 >> 0) & 15U) * VECTOR_BYTES);
        to[1] = (uint16_t)(((byte0 >> 4) & 15U) * VECTOR_BYTES);
        to[2] = (uint16_t)(((byte1 >> 0) & 15U) * VECTOR_BYTES);
        to[3] = (uint16_t)(((byte1 >> 4) & 15U) * VECTOR_BYTES);
        to[4] = (uint16_t)(((byte2 >> 0) & 15U) * VECTOR_BYTES);
        to[5] = (uint16_t)(((byte2 >> 4) & 15U) * VECTOR_BYTES);
        to[6] = (uint16_t)(((byte3 >> 0) & 15U) * VECTOR_BYTES);
        to[7] = (uint16_t)(((byte3 >> 4) & 15U) * VECTOR_BYTES);
        indices += 4;
    }
    /* From the vector to the place of group and tap, the same for every filter. */
    uint16_t places[54];
    uint16_t *next = places;
    for (int32_t place = 0; place < groups * GROUP_BYTES; place += GROUP_BYTES) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 0);
        next[2] = (uint16_t)(place + 0);
        next[3] = (uint16_t)(place + 4);
        next[4] = (uint16_t)(place + 4);
        next[5] = (uint16_t)(place + 4);
        next[6] = (uint16_t)(place + 8);
        next[7] = (uint16_t)(place + 8);
        next[8] = (uint16_t)(place + 8);
        next += 9;
    }
    next[-1] |= 1U;
    for (int32_t place = 0; place < groups * GROUP_BYTES; place += GROUP_BYTES) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 0);
        next[2] = (uint16_t)(place + 0);
        next[3] = (uint16_t)(place + 4);
        next[4] = (uint16_t)(place + 4);
        next[5] = (uint16_t)(place + 4);
        next[6] = (uint16_t)(place + 8);
        next[7] = (uint16_t)(place + 8);
        next[8] = (uint16_t)(place + 8);
        next += 9;
    }
    next[-1] |= 1U;
    for (int32_t place = 0; place < groups * GROUP_BYTES; place += GROUP_BYTES) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 0);
        next[2] = (uint16_t)(place + 0);
        next[3] = (uint16_t)(place + 4);
        next[4] = (uint16_t)(place + 4);
        next[5] = (uint16_t)(place + 4);
        next[6] = (uint16_t)(place + 8);
        next[7] = (uint16_t)(place + 8);
        next[8] = (uint16_t)(place + 8);
        next += 9;
    }
    next[-1] |= 1U;
    edgec_pool_add_places(list, places, entries, FILTERS);
}

/* Responses of a pair row: input rows `low` and low + LANE_ROWS, `channels` of them from x[0] on. */
static void pooled_conv_s8_0_row(const int8_t *x, int32_t low, int32_t channels, uint32_t *row,
                           const uint32_t *pool, int32_t zero_point, int32_t bits)
{
    enum { HEIGHT = 5, STEP = 4, ROW = 6 * STEP };
    const int8_t *const a = (low >= 0 && low < HEIGHT) ? x + low * ROW : NULL;
    const int32_t high = low + 3;
    const int8_t *const b = (high >= 0 && high < HEIGHT) ? x + high * ROW : NULL;
    const uint32_t *const sums = NULL;
    for (int32_t next = 1; next < 7; next += 1) {
        const int32_t c = next;
        const int32_t at = (c * 1 + (-1)) * STEP;
        pooled_conv_s8_0_responses(pool, sums, zero_point, (a != NULL) ? a + at : a, (b != NULL) ? b + at : b,
            STEP * 1, channels, bits, row + 0 + c);
    }
}

/* Pooled convolution [5, 6, 4] to [5, 6, 6], 3x3 window, stride 1x1, sums of 3 vectors, pool [10, 4]. */
EDGEC_SEPARATE void pooled_conv_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 4,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 6,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        FILTERS = 6,
        CHUNK_CHANNELS = 8,
        PAIRS = 3,
        RING = 3,
        PITCH = 7,
        PADDED_WIDTH = 8,
        SUMS = FILTERS * PADDED_WIDTH,
        RESPONSE_SHIFT = 4,
        SHIFT = 32,
    };
    /* A local copy: y may alias anything, so a field would be loaded again after every store. */
    edgec_pool_params_t p = *params;
    p.act_min = INT8_MIN;
    p.act_max = INT8_MAX;
    const int32_t bits = 8;
    uint32_t *const table = (uint32_t *)(void *)scratch;
    uint32_t *const sums = (uint32_t *)(void *)(scratch + 2348);
    const uint32_t *const pool = p.table;
    uint16_t *const list = (uint16_t *)(void *)(scratch + 1692);
    const uint8_t *indices = p.indices;
    /* Padding at the sides: responses of 0. */
    for (uint32_t *row = table; row < table + 60 * PITCH; row += PITCH) {
        row[0] = 0x8000800U;
        row[7] = 0x8000800U;
    }
    const int32_t first = 0;
    const int32_t channels = CHANNELS;
    pooled_conv_s8_0_list(indices, (channels + 3) / 4, list);
    int32_t next = 0;
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        const int32_t top = pair * STRIDE_H;
        for (next = edgec_max_s32(next, top); next < top + 3; next++) {
            pooled_conv_s8_0_row(x + first, next - PAD_TOP, channels, table + next % RING * PITCH, pool,
                           p.x_zero_point, bits);
        }
        for (uint32_t *to = sums; to != sums + 48; to += 4) {
            to[0] = 0x27FF2800U;
            to[1] = 0x27FF2800U;
            to[2] = 0x27FF2800U;
            to[3] = 0x27FF2800U;
        }
        uint32_t *const to = sums;
        int32_t column = 0;
        for (; column < 8; column += 8) {
            const uint8_t *const bases[] = {
                (const uint8_t *)(table + (top + 0 * DILATION_H) % RING * PITCH + column),
                (const uint8_t *)(table + (top + 1 * DILATION_H) % RING * PITCH + column),
                (const uint8_t *)(table + (top + 2 * DILATION_H) % RING * PITCH + column),
                NULL,
            };
            pooled_conv_s8_0_gather8(to + column, list, bases, to + column + SUMS, PADDED_WIDTH);
        }
        const uint32_t *const row = sums;
        if (pair + PAIRS < OUT_HEIGHT) {
            #if EDGEC_POOL_ARMV6M
            for (int32_t o = 0; o < FILTERS; o++) {
                const uint32_t *words = row + o * PADDED_WIDTH;
                const uint32_t *const end = words + OUT_WIDTH;
                const int32_t bias = p.bias[o];
                const int32_t multiplier = p.multiplier[o];
                int8_t *to0 = y + (pair + 0 * PAIRS) * (OUT_WIDTH * FILTERS) + o;
                while (words != end) {
                    {
                        const uint32_t word = words[0];
                        const int32_t acc0 = bias + edgec_pool_lane(word, 0) * (1 << RESPONSE_SHIFT);
                        const int8_t code0 =
                            edgec_requantize_s8(acc0, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to0[0 * FILTERS] = code0;
                    }
                    words += 1;
                    to0 += 1 * FILTERS;
                }
            }
            for (int32_t o = 0; o < FILTERS; o++) {
                const uint32_t *words = row + o * PADDED_WIDTH;
                const uint32_t *const end = words + OUT_WIDTH;
                const int32_t bias = p.bias[o];
                const int32_t multiplier = p.multiplier[o];
                int8_t *to1 = y + (pair + 1 * PAIRS) * (OUT_WIDTH * FILTERS) + o;
                while (words != end) {
                    {
                        const uint32_t word = words[0];
                        const int32_t acc1 = bias + edgec_pool_lane(word, 1) * (1 << RESPONSE_SHIFT);
                        const int8_t code1 =
                            edgec_requantize_s8(acc1, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to1[0 * FILTERS] = code1;
                    }
                    words += 1;
                    to1 += 1 * FILTERS;
                }
            }
            #else
            for (int32_t o = 0; o < FILTERS; o++) {
                const uint32_t *words = row + o * PADDED_WIDTH;
                const uint32_t *const end = words + OUT_WIDTH;
                const int32_t bias = p.bias[o];
                const int32_t multiplier = p.multiplier[o];
                int8_t *to0 = y + (pair + 0 * PAIRS) * (OUT_WIDTH * FILTERS) + o;
                int8_t *to1 = y + (pair + 1 * PAIRS) * (OUT_WIDTH * FILTERS) + o;
                while (words != end) {
                    {
                        const uint32_t word = words[0];
                        const int32_t acc0 = bias + edgec_pool_lane(word, 0) * (1 << RESPONSE_SHIFT);
                        const int8_t code0 =
                            edgec_requantize_s8(acc0, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to0[0 * FILTERS] = code0;
                        const int32_t acc1 = bias + edgec_pool_lane(word, 1) * (1 << RESPONSE_SHIFT);
                        const int8_t code1 =
                            edgec_requantize_s8(acc1, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to1[0 * FILTERS] = code1;
                    }
                    {
                        const uint32_t word = words[1];
                        const int32_t acc0 = bias + edgec_pool_lane(word, 0) * (1 << RESPONSE_SHIFT);
                        const int8_t code0 =
                            edgec_requantize_s8(acc0, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to0[1 * FILTERS] = code0;
                        const int32_t acc1 = bias + edgec_pool_lane(word, 1) * (1 << RESPONSE_SHIFT);
                        const int8_t code1 =
                            edgec_requantize_s8(acc1, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to1[1 * FILTERS] = code1;
                    }
                    words += 2;
                    to0 += 2 * FILTERS;
                    to1 += 2 * FILTERS;
                }
            }
            #endif
        } else {
            for (int32_t o = 0; o < FILTERS; o++) {
                const uint32_t *words = row + o * PADDED_WIDTH;
                const uint32_t *const end = words + OUT_WIDTH;
                const int32_t bias = p.bias[o];
                const int32_t multiplier = p.multiplier[o];
                int8_t *to0 = y + (pair + 0 * PAIRS) * (OUT_WIDTH * FILTERS) + o;
                while (words != end) {
                    {
                        const uint32_t word = words[0];
                        const int32_t acc0 = bias + edgec_pool_lane(word, 0) * (1 << RESPONSE_SHIFT);
                        const int8_t code0 =
                            edgec_requantize_s8(acc0, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to0[0 * FILTERS] = code0;
                    }
                    {
                        const uint32_t word = words[1];
                        const int32_t acc0 = bias + edgec_pool_lane(word, 0) * (1 << RESPONSE_SHIFT);
                        const int8_t code0 =
                            edgec_requantize_s8(acc0, multiplier, SHIFT, p.y_zero_point, p.act_min, p.act_max);
                        to0[1 * FILTERS] = code0;
                    }
                    words += 2;
                    to0 += 2 * FILTERS;
                }
            }
        }
    }
}
