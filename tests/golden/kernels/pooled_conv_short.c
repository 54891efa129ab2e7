/* ---- Pooled convolution [5, 5, 12] to [5, 5, 10], 1x1 window, stride 1x1, pool [6, 8]. ---- */

#if EDGEC_POOL_DSP || EDGEC_POOL_THUMB2
EDGEC_POOL_PRODUCTS(pooled_conv_s8_0_responses_products, EDGEC_POOL_PAIR, 6, 2, 2, 5)
EDGEC_POOL_PRODUCTS(pooled_conv_s8_0_responses_apart, EDGEC_POOL_LONE, 6, 2, 2, 5)
#endif

static void pooled_conv_s8_0_responses(const uint32_t *pool, const uint32_t *sums, int32_t zero_point,
    const int8_t *a, const int8_t *b, int32_t step, int32_t channels, int32_t bits, uint32_t *out)
{
    enum {
        GROUP = 8,
        SIZE = 6,
        SHIFT = 2,
        ROW = 5,
    };
    (void)bits;
    const int32_t drop = 0;
    const int32_t zero = zero_point;
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
        #if EDGEC_POOL_DSP || EDGEC_POOL_THUMB2
        (void)scale;
        #if EDGEC_POOL_DSP
        const uint32_t word_a0 = edgec_pool_round(codes_a[0], drop);
        const uint32_t word_a1 = edgec_pool_round(codes_a[1], drop);
        const uint32_t word_b0 = edgec_pool_round(codes_b[0], drop);
        const uint32_t word_b1 = edgec_pool_round(codes_b[1], drop);
        const uint32_t words[] = {
            edgec_pair_minus(edgec_pool_even(word_a0), offset),
            edgec_pair_minus(edgec_pool_odd(word_a0), offset),
            edgec_pair_minus(edgec_pool_even(word_a1), offset),
            edgec_pair_minus(edgec_pool_odd(word_a1), offset),
            edgec_pair_minus(edgec_pool_even(word_b0), offset),
            edgec_pair_minus(edgec_pool_odd(word_b0), offset),
            edgec_pair_minus(edgec_pool_even(word_b1), offset),
            edgec_pair_minus(edgec_pool_odd(word_b1), offset),
        };
        #else
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
        const uint32_t word_a1 = edgec_pool_round(codes_a[1], drop);
        const uint32_t word_b1 = edgec_pool_round(codes_b[1], drop);
        const uint32_t x4 = (word_a1 >> 0 & 0xFFU)
            + ((word_b1 >> 0 & 0xFFU) << 16) - offset;
        const uint32_t x5 = (word_a1 >> 16 & 0xFFU)
            + ((word_b1 >> 16 & 0xFFU) << 16) - offset;
        const uint32_t x6 = (word_a1 >> 8 & 0xFFU)
            + ((word_b1 >> 8 & 0xFFU) << 16) - offset;
        const uint32_t x7 = (word_a1 >> 24 & 0xFFU)
            + ((word_b1 >> 24 & 0xFFU) << 16) - offset;
        const uint32_t words[] = {x0, x1, x2, x3, x4, x5, x6, x7, };
        #endif
        pooled_conv_s8_0_responses_products(words, pool, out, 0);
        #else
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
        const uint32_t word_a1 = edgec_pool_round(codes_a[1], drop);
        const uint32_t word_b1 = edgec_pool_round(codes_b[1], drop);
        const uint32_t x4 = (word_a1 >> 0 & 0xFFU)
            + ((word_b1 >> 0 & 0xFFU) << 16) - offset;
        const uint32_t x5 = (word_a1 >> 16 & 0xFFU)
            + ((word_b1 >> 16 & 0xFFU) << 16) - offset;
        const uint32_t x6 = (word_a1 >> 8 & 0xFFU)
            + ((word_b1 >> 8 & 0xFFU) << 16) - offset;
        const uint32_t x7 = (word_a1 >> 24 & 0xFFU)
            + ((word_b1 >> 24 & 0xFFU) << 16) - offset;
        const uint32_t *vector = pool;
        uint32_t *to = out;
        for (int32_t s = 0; s < SIZE; s++) {
            uint32_t sum = 0;
            sum += x0 * edgec_pool_low(vector[0]) + x1 * edgec_pool_high(vector[0]);
            sum += x2 * edgec_pool_low(vector[1]) + x3 * edgec_pool_high(vector[1]);
            sum += x4 * edgec_pool_low(vector[2]) + x5 * edgec_pool_high(vector[2]);
            sum += x6 * edgec_pool_low(vector[3]) + x7 * edgec_pool_high(vector[3]);
            vector += GROUP / 2;
            *to = edgec_pool_shifted(sum + scale.start, scale);
            to += ROW;
        }
        #endif
        out += SIZE * ROW;
    }
}
static void pooled_conv_s8_0_responses_lone(const uint32_t *pool, const uint32_t *sums, int32_t zero_point,
    const int8_t *x, int32_t at, int32_t step, int32_t channels, int32_t bits, uint32_t *out)
{
    enum {
        GROUP = 8,
        SIZE = 6,
        SHIFT = 2,
        ROW = 5,
    };
    (void)bits;
    const int32_t drop = 0;
    const int32_t zero = zero_point;
#if EDGEC_POOL_DSP || EDGEC_POOL_THUMB2
    (void)sums;
    const uint32_t offset = edgec_pool_zero(zero, drop) * EDGEC_POOL_LANES;
    const int8_t *const next = (x != NULL) ? x + step : x;
    for (int32_t first = 0; first < channels; first += GROUP) {
        uint32_t codes_x[GROUP / 4];
        edgec_pool_codes(codes_x, GROUP, (x != NULL) ? x + first : x,
            channels - first, zero);
        uint32_t codes_next[GROUP / 4];
        edgec_pool_codes(codes_next, GROUP, (next != NULL) ? next + first : next,
            channels - first, zero);
        #if EDGEC_POOL_DSP
        const uint32_t word_x0 = edgec_pool_round(codes_x[0], drop);
        const uint32_t word_x1 = edgec_pool_round(codes_x[1], drop);
        const uint32_t word_next0 = edgec_pool_round(codes_next[0], drop);
        const uint32_t word_next1 = edgec_pool_round(codes_next[1], drop);
        const uint32_t words[] = {
            edgec_pair_minus(edgec_pool_even(word_x0), offset),
            edgec_pair_minus(edgec_pool_odd(word_x0), offset),
            edgec_pair_minus(edgec_pool_even(word_x1), offset),
            edgec_pair_minus(edgec_pool_odd(word_x1), offset),
            edgec_pair_minus(edgec_pool_even(word_next0), offset),
            edgec_pair_minus(edgec_pool_odd(word_next0), offset),
            edgec_pair_minus(edgec_pool_even(word_next1), offset),
            edgec_pair_minus(edgec_pool_odd(word_next1), offset),
        };
        #else
        const uint32_t word_x0 = edgec_pool_round(codes_x[0], drop);
        const uint32_t word_next0 = edgec_pool_round(codes_next[0], drop);
        const uint32_t x0 = (word_x0 >> 0 & 0xFFU)
            + ((word_next0 >> 0 & 0xFFU) << 16) - offset;
        const uint32_t x1 = (word_x0 >> 16 & 0xFFU)
            + ((word_next0 >> 16 & 0xFFU) << 16) - offset;
        const uint32_t x2 = (word_x0 >> 8 & 0xFFU)
            + ((word_next0 >> 8 & 0xFFU) << 16) - offset;
        const uint32_t x3 = (word_x0 >> 24 & 0xFFU)
            + ((word_next0 >> 24 & 0xFFU) << 16) - offset;
        const uint32_t word_x1 = edgec_pool_round(codes_x[1], drop);
        const uint32_t word_next1 = edgec_pool_round(codes_next[1], drop);
        const uint32_t x4 = (word_x1 >> 0 & 0xFFU)
            + ((word_next1 >> 0 & 0xFFU) << 16) - offset;
        const uint32_t x5 = (word_x1 >> 16 & 0xFFU)
            + ((word_next1 >> 16 & 0xFFU) << 16) - offset;
        const uint32_t x6 = (word_x1 >> 8 & 0xFFU)
            + ((word_next1 >> 8 & 0xFFU) << 16) - offset;
        const uint32_t x7 = (word_x1 >> 24 & 0xFFU)
            + ((word_next1 >> 24 & 0xFFU) << 16) - offset;
        const uint32_t words[] = {x0, x1, x2, x3, x4, x5, x6, x7, };
        #endif
        pooled_conv_s8_0_responses_apart(words, pool, out, at);
        out += SIZE * ROW;
    }
#else
    (void)drop;
    (void)zero;
    for (int32_t i = 0; i < 2; i++) {
        const int8_t *const pixel = (x != NULL) ? x + i * step : x;
        pooled_conv_s8_0_responses(pool, sums, zero_point, (at == 0) ? pixel : NULL, (at == 0) ? NULL : pixel, 0,
            channels, bits, out + i);
    }
#endif
}


EDGEC_POOL_GATHER8(pooled_conv_s8_0_gather8, 1)
/* The list of a chunk of `groups` groups from its indices. */
static void pooled_conv_s8_0_list(const uint8_t *indices, int32_t groups, uint16_t *list)
{
    enum { FILTERS = 10, VECTOR_BYTES = 20, GROUP_BYTES = 120 };
    const int32_t entries = 1 * groups;
    uint16_t *const end = list + FILTERS * entries;
    for (uint16_t *to = list; to < end; to += 8) {
        const uint32_t byte0 = indices[0];
        const uint32_t byte1 = indices[1];
        const uint32_t byte2 = indices[2];
        to[0] = (uint16_t)(((byte0 >> 0) & 7U) * VECTOR_BYTES);
        to[1] = (uint16_t)(((byte0 >> 3) & 7U) * VECTOR_BYTES);
        to[2] = (uint16_t)(((byte0 >> 6 | byte1 << 2) & 7U) * VECTOR_BYTES);
        to[3] = (uint16_t)(((byte1 >> 1) & 7U) * VECTOR_BYTES);
        to[4] = (uint16_t)(((byte1 >> 4) & 7U) * VECTOR_BYTES);
        to[5] = (uint16_t)(((byte1 >> 7 | byte2 << 1) & 7U) * VECTOR_BYTES);
        to[6] = (uint16_t)(((byte2 >> 2) & 7U) * VECTOR_BYTES);
        to[7] = (uint16_t)(((byte2 >> 5) & 7U) * VECTOR_BYTES);
        indices += 3;
    }
    /* From the vector to the place of group and tap, the same for every filter. */
    uint16_t places[1];
    uint16_t *next = places;
    for (int32_t place = 0; place < groups * GROUP_BYTES; place += GROUP_BYTES) {
        next[0] = (uint16_t)(place + 0);
        next += 1;
    }
    next[-1] |= 1U;
    edgec_pool_add_places(list, places, entries, FILTERS);
}

/* Responses of a pair row: input rows `low` and low + LANE_ROWS, `channels` of them from x[0] on. */
static void pooled_conv_s8_0_row(const int8_t *x, int32_t low, int32_t channels, uint32_t *row,
                           const uint32_t *pool, int32_t zero_point, int32_t bits)
{
    enum { HEIGHT = 5, STEP = 12, ROW = 5 * STEP };
    const int8_t *const a = (low >= 0 && low < HEIGHT) ? x + low * ROW : NULL;
    const int32_t high = low + 3;
    const int8_t *const b = (high >= 0 && high < HEIGHT) ? x + high * ROW : NULL;
    const uint32_t *const sums = NULL;
    if (a == NULL || b == NULL) {
        const int8_t *const lone = (a != NULL) ? a : b;
        const int32_t lane = (a != NULL) ? 0 : 16;
        for (int32_t next = 0; next < 5; next += 2) {
            const int32_t c = edgec_min_s32(next, 3);
            const int32_t at = (c * 1 + (0)) * STEP;
            const int8_t *const pixel = (lone != NULL) ? lone + at : lone;
            pooled_conv_s8_0_responses_lone(pool, sums, zero_point, pixel, lane, STEP * 1, channels, bits, row + 0 + c);
        }
        return;
    }
    for (int32_t next = 0; next < 5; next += 1) {
        const int32_t c = next;
        const int32_t at = (c * 1 + (0)) * STEP;
        pooled_conv_s8_0_responses(pool, sums, zero_point, (a != NULL) ? a + at : a, (b != NULL) ? b + at : b,
            STEP * 1, channels, bits, row + 0 + c);
    }
}

/* Pooled convolution [5, 5, 12] to [5, 5, 10], 1x1 window, stride 1x1, pool [6, 8]. */
EDGEC_SEPARATE void pooled_conv_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_short_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 5,
        CHANNELS = 12,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 5,
        KERNEL_H = 1,
        KERNEL_W = 1,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 0,
        PAD_LEFT = 0,
        DILATION_H = 1,
        DILATION_W = 1,
        FILTERS = 10,
        CHUNK_CHANNELS = 8,
        PAIRS = 3,
        RING = 1,
        PITCH = 5,
        PADDED_WIDTH = 8,
        SUMS = FILTERS * PADDED_WIDTH,
        RESPONSE_SHIFT = 2,
        SHIFT = 32,
    };
    /* A local copy: y may alias anything, so a field would be loaded again after every store. */
    const edgec_pool_short_params_t p = *params;
    const int32_t bits = 8;
    uint32_t *const table = (uint32_t *)(void *)scratch;
    uint32_t *const sums = (uint32_t *)(void *)(scratch + 164);
    const uint32_t *const pool = p.table;
    uint16_t *const list = (uint16_t *)(void *)(scratch + 132);
    const uint8_t *indices = p.indices;
    for (uint32_t *to = sums; to != sums + 240; to += 4) {
        to[0] = 0xBFFFC000U;
        to[1] = 0xBFFFC000U;
        to[2] = 0xBFFFC000U;
        to[3] = 0xBFFFC000U;
    }
    for (int32_t first = 0; first < CHANNELS; first += CHUNK_CHANNELS) {
        const int32_t channels = (CHANNELS - first < CHUNK_CHANNELS) ? CHANNELS - first : CHUNK_CHANNELS;
        pooled_conv_s8_0_list(indices, (channels + 7) / 8, list);
        int32_t next = 0;
        for (int32_t pair = 0; pair < PAIRS; pair++) {
            const int32_t top = pair * STRIDE_H;
            for (next = edgec_max_s32(next, top); next < top + 1; next++) {
                pooled_conv_s8_0_row(x + first, next - PAD_TOP, channels, table + next % RING * PITCH, pool,
                               p.x_zero_point, bits);
            }
            uint32_t *const to = sums + pair * SUMS;
            int32_t column = 0;
            for (; column < 8; column += 8) {
                const uint8_t *const bases[] = {
                    (const uint8_t *)(table + (top + 0 * DILATION_H) % RING * PITCH + column),
                    NULL,
                };
                pooled_conv_s8_0_gather8(to + column, list, bases, to + column + SUMS, PADDED_WIDTH);
            }
        }
        indices += 6;
    }
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        const uint32_t *const row = sums + pair * SUMS;
        if (pair + PAIRS < OUT_HEIGHT) {
            #if EDGEC_POOL_ARMV6M
            for (int32_t o = 0; o < FILTERS; o++) {
                const uint32_t *words = row + o * PADDED_WIDTH;
                const uint32_t *const end = words + OUT_WIDTH;
                const uint32_t stored = p.multiplier[o];
                const int32_t bias = edgec_short_bias(p.bias[o], stored, p.bias_shift);
                const int32_t multiplier = edgec_short_multiplier(stored, p.multiplier_shift);
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
                const uint32_t stored = p.multiplier[o];
                const int32_t bias = edgec_short_bias(p.bias[o], stored, p.bias_shift);
                const int32_t multiplier = edgec_short_multiplier(stored, p.multiplier_shift);
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
                const uint32_t stored = p.multiplier[o];
                const int32_t bias = edgec_short_bias(p.bias[o], stored, p.bias_shift);
                const int32_t multiplier = edgec_short_multiplier(stored, p.multiplier_shift);
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
                    words += 1;
                    to0 += 1 * FILTERS;
                    to1 += 1 * FILTERS;
                }
            }
            #endif
        } else {
            for (int32_t o = 0; o < FILTERS; o++) {
                const uint32_t *words = row + o * PADDED_WIDTH;
                const uint32_t *const end = words + OUT_WIDTH;
                const uint32_t stored = p.multiplier[o];
                const int32_t bias = edgec_short_bias(p.bias[o], stored, p.bias_shift);
                const int32_t multiplier = edgec_short_multiplier(stored, p.multiplier_shift);
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
        }
    }
}
