/* ---- Pooled convolution [1, 40, 4] to [1, 9, 2], 1x32 window, stride 1x1, pool [4, 4]. ---- */

static void pooled_conv_s8_0_responses(const uint32_t *pool, const uint32_t *sums, int32_t zero_point,
    const int8_t *a, const int8_t *b, int32_t step, int32_t channels, int32_t bits, uint32_t *out)
{
    enum {
        GROUP = 4,
        SIZE = 4,
        SHIFT = 0,
        ROW = 40,
    };
    (void)bits;
    const int32_t drop = 0;
    (void)zero_point;
    const int32_t zero = -128;
    (void)step;
    (void)b;
    enum { WORDS = 1, TABLE = 1 << 4 };
    (void)sums;
    const edgec_pool_scale_t scale = edgec_pool_planes_scale(SHIFT, drop);
    for (int32_t first = 0; first < channels; first += GROUP) {
        uint32_t codes_a[GROUP / 4];
        edgec_pool_codes(codes_a, GROUP, (a != NULL) ? a + first : a,
            channels - first, zero);
        const uint32_t *rows_a[8];
        {
            const uint32_t **const rows = rows_a;
            uint32_t planes[2];
            const uint32_t word0 = edgec_pool_round(codes_a[0], drop);
            planes[0] = edgec_pool_planes(word0 << 4, 0 << 4);
            planes[1] = edgec_pool_planes(word0, 0);
            rows[0] = pool + 0 * TABLE +
                WORDS * (planes[0] >> 0 & 0xFU);
            rows[1] = pool + 0 * TABLE +
                WORDS * (planes[0] >> 8 & 0xFU);
            rows[2] = pool + 0 * TABLE +
                WORDS * (planes[0] >> 16 & 0xFU);
            rows[3] = pool + 0 * TABLE +
                WORDS * (planes[0] >> 24 & 0xFU);
            rows[4] = pool + 0 * TABLE +
                WORDS * (planes[1] >> 0 & 0xFU);
            rows[5] = pool + 0 * TABLE +
                WORDS * (planes[1] >> 8 & 0xFU);
            rows[6] = pool + 0 * TABLE +
                WORDS * (planes[1] >> 16 & 0xFU);
            rows[7] = pool + 0 * TABLE +
                WORDS * (planes[1] >> 24 & 0xFU);
        }
        for (int32_t w = 0; w < WORDS; w++) {
            uint32_t even_a = 0;
            uint32_t odd_a = 0;
            {
                uint32_t entries = rows_a[7][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[6][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[5][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[4][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[3][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[2][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[1][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            {
                uint32_t entries = rows_a[0][w];
                even_a = edgec_pool_even(entries) + (even_a << 1);
                odd_a = edgec_pool_odd(entries) + (odd_a << 1);
            }
            even_a += scale.start;
            odd_a += scale.start;
            even_a = edgec_pool_shifted(even_a, scale);
            odd_a = edgec_pool_shifted(odd_a, scale);
            uint32_t *const to = out + 4 * ROW * w;
            to[0 * ROW] = edgec_pool_single(even_a, scale);
            to[1 * ROW] = edgec_pool_single(odd_a, scale);
            to[2 * ROW] = edgec_pool_single(even_a >> 16, scale);
            to[3 * ROW] = edgec_pool_single(odd_a >> 16, scale);
        }
        out += SIZE * ROW;
    }
}


EDGEC_POOL_GATHER8(pooled_conv_s8_0_gather8, 32)
EDGEC_POOL_GATHER4(pooled_conv_s8_0_gather4, 32)
/* The list of a chunk of `groups` groups from its indices. */
static void pooled_conv_s8_0_list(const uint8_t *indices, int32_t groups, uint16_t *list)
{
    enum { FILTERS = 2, VECTOR_BYTES = 160, GROUP_BYTES = 640 };
    const int32_t entries = 32 * groups;
    uint16_t *const end = list + FILTERS * entries;
    for (uint16_t *to = list; to < end; to += 8) {
        const uint32_t byte0 = indices[0];
        const uint32_t byte1 = indices[1];
        to[0] = (uint16_t)(((byte0 >> 0) & 3U) * VECTOR_BYTES);
        to[1] = (uint16_t)(((byte0 >> 2) & 3U) * VECTOR_BYTES);
        to[2] = (uint16_t)(((byte0 >> 4) & 3U) * VECTOR_BYTES);
        to[3] = (uint16_t)(((byte0 >> 6) & 3U) * VECTOR_BYTES);
        to[4] = (uint16_t)(((byte1 >> 0) & 3U) * VECTOR_BYTES);
        to[5] = (uint16_t)(((byte1 >> 2) & 3U) * VECTOR_BYTES);
        to[6] = (uint16_t)(((byte1 >> 4) & 3U) * VECTOR_BYTES);
        to[7] = (uint16_t)(((byte1 >> 6) & 3U) * VECTOR_BYTES);
        indices += 2;
    }
    /* From the vector to the place of group and tap, the same for every filter. */
    uint16_t places[32];
    uint16_t *next = places;
    for (int32_t place = 0; place < groups * GROUP_BYTES; place += GROUP_BYTES) {
        next[0] = (uint16_t)(place + 0);
        next[1] = (uint16_t)(place + 4);
        next[2] = (uint16_t)(place + 8);
        next[3] = (uint16_t)(place + 12);
        next[4] = (uint16_t)(place + 16);
        next[5] = (uint16_t)(place + 20);
        next[6] = (uint16_t)(place + 24);
        next[7] = (uint16_t)(place + 28);
        next[8] = (uint16_t)(place + 32);
        next[9] = (uint16_t)(place + 36);
        next[10] = (uint16_t)(place + 40);
        next[11] = (uint16_t)(place + 44);
        next[12] = (uint16_t)(place + 48);
        next[13] = (uint16_t)(place + 52);
        next[14] = (uint16_t)(place + 56);
        next[15] = (uint16_t)(place + 60);
        next[16] = (uint16_t)(place + 64);
        next[17] = (uint16_t)(place + 68);
        next[18] = (uint16_t)(place + 72);
        next[19] = (uint16_t)(place + 76);
        next[20] = (uint16_t)(place + 80);
        next[21] = (uint16_t)(place + 84);
        next[22] = (uint16_t)(place + 88);
        next[23] = (uint16_t)(place + 92);
        next[24] = (uint16_t)(place + 96);
        next[25] = (uint16_t)(place + 100);
        next[26] = (uint16_t)(place + 104);
        next[27] = (uint16_t)(place + 108);
        next[28] = (uint16_t)(place + 112);
        next[29] = (uint16_t)(place + 116);
        next[30] = (uint16_t)(place + 120);
        next[31] = (uint16_t)(place + 124);
        next += 32;
    }
    next[-1] |= 1U;
    edgec_pool_add_places(list, places, entries, FILTERS);
}

/* Responses of a pair row: input rows `low` and low + LANE_ROWS, `channels` of them from x[0] on. */
static void pooled_conv_s8_0_row(const int8_t *x, int32_t low, int32_t channels, uint32_t *row,
                           const uint32_t *pool, int32_t zero_point, int32_t bits)
{
    enum { HEIGHT = 1, STEP = 4, ROW = 40 * STEP };
    const int8_t *const a = (low >= 0 && low < HEIGHT) ? x + low * ROW : NULL;
    const int8_t *const b = NULL;
    const uint32_t *const sums = NULL;
    for (int32_t next = 0; next < 40; next += 1) {
        const int32_t c = next;
        const int32_t at = (c * 1 + (0)) * STEP;
        pooled_conv_s8_0_responses(pool, sums, zero_point, (a != NULL) ? a + at : a, (b != NULL) ? b + at : b,
            STEP * 1, channels, bits, row + 0 + c);
    }
}

/* Pooled convolution [1, 40, 4] to [1, 9, 2], 1x32 window, stride 1x1, pool [4, 4]. */
EDGEC_SEPARATE void pooled_conv_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params)
{
    enum {
        HEIGHT = 1,
        WIDTH = 40,
        CHANNELS = 4,
        OUT_HEIGHT = 1,
        OUT_WIDTH = 9,
        KERNEL_H = 1,
        KERNEL_W = 32,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 0,
        PAD_LEFT = 0,
        DILATION_H = 1,
        DILATION_W = 1,
        FILTERS = 2,
        CHUNK_CHANNELS = 4,
        PAIRS = 1,
        RING = 1,
        PITCH = 40,
        PADDED_WIDTH = 12,
        SUMS = FILTERS * PADDED_WIDTH,
        RESPONSE_SHIFT = 0,
        SHIFT = 32,
    };
    /* A local copy: y may alias anything, so a field would be loaded again after every store. */
    edgec_pool_params_t p = *params;
    p.act_min = INT8_MIN;
    p.act_max = INT8_MAX;
    const int32_t bits = 8;
    uint32_t *const table = (uint32_t *)(void *)scratch;
    uint32_t *const sums = (uint32_t *)(void *)(scratch + 784);
    const uint32_t *const pool = p.table;
    uint16_t *const list = (uint16_t *)(void *)(scratch + 652);
    const uint8_t *indices = p.indices;
    const int32_t first = 0;
    const int32_t channels = CHANNELS;
    pooled_conv_s8_0_list(indices, (channels + 3) / 4, list);
    int32_t next = 0;
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        const int32_t top = pair * STRIDE_H;
        for (next = edgec_max_s32(next, top); next < top + 1; next++) {
            pooled_conv_s8_0_row(x + first, next - PAD_TOP, channels, table + next % RING * PITCH, pool,
                           p.x_zero_point, bits);
        }
        for (uint32_t *to = sums; to != sums + 24; to += 4) {
            to[0] = 0x0U;
            to[1] = 0x0U;
            to[2] = 0x0U;
            to[3] = 0x0U;
        }
        uint32_t *const to = sums;
        int32_t column = 0;
        for (; column < 8; column += 8) {
            const uint8_t *const bases[] = {
                (const uint8_t *)(table + (top + 0 * DILATION_H) % RING * PITCH + column),
                NULL,
            };
            pooled_conv_s8_0_gather8(to + column, list, bases, to + column + SUMS, PADDED_WIDTH);
        }
        const uint8_t *const bases[] = {
            (const uint8_t *)(table + (top + 0 * DILATION_H) % RING * PITCH + column),
            NULL,
        };
        pooled_conv_s8_0_gather4(to + column, list, bases, to + column + SUMS, PADDED_WIDTH);
        const uint32_t *const row = sums;
        for (int32_t o = 0; o < FILTERS; o++) {
            const uint32_t *words = row + o * PADDED_WIDTH;
            const uint32_t *const end = words + OUT_WIDTH;
            const int32_t bias = p.bias[o];
            const int32_t multiplier = p.multiplier[o];
            int8_t *to0 = y + (pair + 0 * PAIRS) * (OUT_WIDTH * FILTERS) + o;
            while (words != end) {
                {
                    const uint32_t word = words[0];
                    const int32_t acc0 = bias + (int32_t)word * (1 << RESPONSE_SHIFT);
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
