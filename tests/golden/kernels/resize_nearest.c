/* Nearest resize to [8, 8, 8]. */
static void resize_nearest_s8_0(const int8_t *restrict x, int8_t *restrict y,
                       const edgec_resize_params_t *params)
{
    enum {
        WIDTH = 4,
        CHANNELS = 8,
        OUT_HEIGHT = 8,
        OUT_WIDTH = 8,
    };
    for (int32_t oy = 0; oy < OUT_HEIGHT; oy++) {
        for (int32_t ox = 0; ox < OUT_WIDTH; ox++) {
            const int32_t from = params->rows[oy] * WIDTH + params->cols[ox];
            memcpy(y, x + from * CHANNELS, (size_t)CHANNELS);
            y += CHANNELS;
        }
    }
}
