/* 2 bit planes of [6, 40], 32 to a word. */
static void planes_s8_0(const int8_t *x, uint32_t *y, const edgec_planes_params_t *params)
{
    enum { ROWS = 6, CHANNELS = 40, WORDS = 2, PLANES = 2 };
    const edgec_planes_params_t p = *params;
    for (int32_t row = 0; row < ROWS; row++, x += CHANNELS, y += PLANES * WORDS) {
        int32_t c = 0;
        for (int32_t n = 0; n < WORDS; n++) {
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
