/* Signs of [6, 64], 32 to a word. */
static void signs_neon_s8_0(const int8_t *x, uint32_t *y, const edgec_signs_params_t *params)
{
    enum { ROWS = 6, CHANNELS = 64, REST = 0 };
    const edgec_signs_params_t p = *params;
    for (int32_t row = 0; row < ROWS; row++) {
        int32_t c = 0;
        for (; c < CHANNELS - REST; c += 32, x += 32) {
            *y++ = edgec_neon_signs_word(x, p.least + c, p.most + c);
        }
    }
}
