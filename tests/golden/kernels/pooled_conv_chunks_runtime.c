/* ---- Pooled convolution [5, 5, 12] to [5, 5, 10], 1x1 window, stride 1x1, pool [6, 8]. ---- */

static void pooled_conv_s8_0_responses(const uint32_t *pool, const uint32_t *sums, int32_t zero_point,
    const int8_t *a, const int8_t *b, int32_t step, int32_t channels, int32_t bits, uint32_t *out)
{
    enum {
        GROUP = 8,
        SIZE = 6,
        SHIFT = 0,
        ROW = 5,
    };
    const int32_t drop = 8 - bits;
    const int32_t zero = zero_point;
    (void)step;
    (void)b;
    (void)sums;
    const uint32_t offset = edgec_pool_zero(zero, drop) * EDGEC_POOL_LANES;
    for (int32_t first = 0; first < channels; first += GROUP) {
        uint32_t codes_a[GROUP / 4];
        edgec_pool_codes(codes_a, GROUP, (a != NULL) ? a + first : a,
            channels - first, zero);
        const uint32_t word_a0 = edgec_pool_round(codes_a[0], drop);
        const uint32_t x0 = (word_a0 >> 0 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t x1 = (word_a0 >> 16 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t x2 = (word_a0 >> 8 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t x3 = (word_a0 >> 24 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t word_a1 = edgec_pool_round(codes_a[1], drop);
        const uint32_t x4 = (word_a1 >> 0 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t x5 = (word_a1 >> 16 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t x6 = (word_a1 >> 8 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t x7 = (word_a1 >> 24 & 0xFFU)
            - (offset & 0xFFFFU);
        const uint32_t *vector = pool;
        uint32_t *to = out;
        for (int32_t s = 0; s < SIZE; s++) {
            uint32_t sum = 0;
            sum += x0 * edgec_pool_low(vector[0]) + x1 * edgec_pool_high(vector[0]);
            sum += x2 * edgec_pool_low(vector[1]) + x3 * edgec_pool_high(vector[1]);
            sum += x4 * edgec_pool_low(vector[2]) + x5 * edgec_pool_high(vector[2]);
            sum += x6 * edgec_pool_low(vector[3]) + x7 * edgec_pool_high(vector[3]);
            vector += GROUP / 2;
            *to = sum;
            to += ROW;
        }
        out += SIZE * ROW;
    }
}


EDGEC_POOL_GATHER8(pooled_conv_s8_0_gather8, 1)
/* Responses of a pair row: input rows `low` and low + LANE_ROWS, `channels` of them from x[0] on. */
static void pooled_conv_s8_0_row(const int8_t *x, int32_t low, int32_t channels, uint32_t *row,
                           const uint32_t *pool, int32_t zero_point, int32_t bits)
{
    enum { HEIGHT = 5, STEP = 12, ROW = 5 * STEP };
    const int8_t *const a = (low >= 0 && low < HEIGHT) ? x + low * ROW : NULL;
    const int8_t *const b = NULL;
    const uint32_t *const sums = NULL;
    for (int32_t next = 0; next < 5; next += 1) {
        const int32_t c = next;
        const int32_t at = (c * 1 + (0)) * STEP;
        pooled_conv_s8_0_responses(pool, sums, zero_point, (a != NULL) ? a + at : a, (b != NULL) ? b + at : b,
            STEP * 1, channels, bits, row + 0 + c);
    }
}

/* Pooled convolution [5, 5, 12] to [5, 5, 10], 1x1 window, stride 1x1, pool [6, 8]. */
EDGEC_SEPARATE void pooled_conv_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params, int32_t bits)
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
        PAIRS = 5,
        RING = 1,
        PITCH = 5,
        PADDED_WIDTH = 8,
        SUMS = FILTERS * PADDED_WIDTH,
        RESPONSE_SHIFT = 0,
        SHIFT = 32,
    };
    /* A local copy: y may alias anything, so a field would be loaded again after every store. */
    const edgec_pool_params_t p = *params;
    uint32_t *const table = (uint32_t *)(void *)scratch;
    uint32_t *const sums = (uint32_t *)(void *)(scratch + 132);
    uint32_t *const pool = (uint32_t *)(void *)(scratch + 1732);
    memcpy(pool, p.table, 96);
    const uint16_t *list = p.indices;
    for (uint32_t *to = sums; to != sums + 400; to += 4) {
        to[0] = 0x0U;
        to[1] = 0x0U;
        to[2] = 0x0U;
        to[3] = 0x0U;
    }
    for (int32_t first = 0; first < CHANNELS; first += CHUNK_CHANNELS) {
        const int32_t channels = (CHANNELS - first < CHUNK_CHANNELS) ? CHANNELS - first : CHUNK_CHANNELS;
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
        list += FILTERS * 1 * CHUNK_CHANNELS / 8;
    }
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        const uint32_t *const row = sums + pair * SUMS;
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
