/* Signs of [6, 40], 32 to a word. */
static void signs_s8_0(const int8_t *x, uint32_t *y, const edgec_signs_params_t *params)
{
    enum { ROWS = 6, CHANNELS = 40 };
    const edgec_signs_params_t p = *params;
    for (int32_t row = 0; row < ROWS; row++) {
        int32_t c = 0;
        while (c < CHANNELS) {
            uint32_t word = 0;
            for (uint32_t bit = 0; bit < 32 && c < CHANNELS; bit++, c++) {
                const int8_t code = *x++;
                word |= (uint32_t)(code >= p.least[c] && code <= p.most[c]) << bit;
            }
            *y++ = word;
        }
    }
}
