/* Linear resize to [8, 8, 8].  Rows and columns are (low, high, weight) with 11 fraction bits. */
static void resize_linear_s8_0(const int8_t *restrict x, int8_t *restrict y,
                       const edgec_resize_params_t *params)
{
    enum {
        WIDTH = 4,
        CHANNELS = 8,
        OUT_HEIGHT = 8,
        OUT_WIDTH = 8,
        ONE = 2048,
    };
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        const int32_t *const row = params->rows + oy * 3;
        const int8_t *const low = x + row[0] * (WIDTH * CHANNELS);
        const int8_t *const high = x + row[1] * (WIDTH * CHANNELS);
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t *const col = params->cols + ox * 3;
            const int32_t left = col[0] * CHANNELS;
            const int32_t right = col[1] * CHANNELS;
            const edgec_blend_t blend = {
                {low + left, low + right, high + left, high + right},
                {
                    (ONE - col[2]) * (ONE - row[2]),
                    col[2] * (ONE - row[2]),
                    (ONE - col[2]) * row[2],
                    col[2] * row[2],
                },
            };
            edgec_blend_up(&blend, y, CHANNELS);
            y += CHANNELS;
        }
    }
}
