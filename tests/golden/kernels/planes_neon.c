/* 2 bit planes of [6, 64], 32 to a word. */
static void planes_neon_s8_0(const int8_t *x, uint32_t *y, const edgec_planes_params_t *params)
{
    enum { ROWS = 6, CHANNELS = 64, WORDS = 2, FULL = 2, PLANES = 2 };
    const edgec_planes_params_t p = *params;
    for (int32_t row = 0; row < ROWS; row++, x += CHANNELS, y += PLANES * WORDS) {
        int32_t c = 0;
        int32_t n = 0;
        for (; n < FULL; n++, c += 32) {
            const int8x16_t low = vld1q_s8(x + c);
            const int8x16_t high = vld1q_s8(x + c + 16);
            const uint8x16_t low0 = vcgtq_s8(low, vld1q_s8(p.below + 0 * CHANNELS + c));
            const uint8x16_t high0 = vcgtq_s8(high, vld1q_s8(p.below + 0 * CHANNELS + c + 16));
            const uint8x16_t low1 = vcgtq_s8(low, vld1q_s8(p.below + 1 * CHANNELS + c));
            const uint8x16_t high1 = vcgtq_s8(high, vld1q_s8(p.below + 1 * CHANNELS + c + 16));
            const uint8x16_t low2 = vcgtq_s8(low, vld1q_s8(p.below + 2 * CHANNELS + c));
            const uint8x16_t high2 = vcgtq_s8(high, vld1q_s8(p.below + 2 * CHANNELS + c + 16));
            {
                uint8x16_t first = vdupq_n_u8(0);
                uint8x16_t last = vdupq_n_u8(0);
                first = veorq_u8(first, low0);
                last = veorq_u8(last, high0);
                first = veorq_u8(first, low1);
                last = veorq_u8(last, high1);
                first = veorq_u8(first, low2);
                last = veorq_u8(last, high2);
                y[0 * WORDS + n] = edgec_neon_planes_word(first, last);
            }
            {
                uint8x16_t first = vdupq_n_u8(0);
                uint8x16_t last = vdupq_n_u8(0);
                first = veorq_u8(first, low1);
                last = veorq_u8(last, high1);
                y[1 * WORDS + n] = edgec_neon_planes_word(first, last);
            }
        }
        for (; n < WORDS; n++) {
            uint32_t word0 = 0;
            uint32_t word1 = 0;
            for (uint32_t bit = 0; bit < 32 && c < CHANNELS; bit++, c++) {
                const int8_t code = x[c];
                const uint32_t above0 = (uint32_t)(code > p.below[0 * CHANNELS + c]);
                const uint32_t above1 = (uint32_t)(code > p.below[1 * CHANNELS + c]);
                const uint32_t above2 = (uint32_t)(code > p.below[2 * CHANNELS + c]);
                word0 |= (above0 ^ above1 ^ above2) << bit;
                word1 |= (above1) << bit;
            }
            y[0 * WORDS + n] = word0;
            y[1 * WORDS + n] = word1;
        }
    }
}
