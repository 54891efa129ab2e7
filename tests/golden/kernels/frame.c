/* rgb565 frame of 40 x 30, 32 x 24 of it as 20 x 12 x 3 (area). */
EDGEC_SEPARATE void frame_s8_0(const int8_t *x, const int8_t *codes, int8_t *y)
{
    enum { ROW = 80, PIXEL = 2 };
    const uint8_t *const frame = (const uint8_t *)x;
    const uint8_t *line = frame + 248;
    /* 2 rows become 1, 8 columns 5: a pixel of the frame has ROWS x COLUMNS parts. */
    enum { TALL = 2, ROWS = 1, WIDE = 8, COLUMNS = 5 };
    int32_t down = 0;
    for (int32_t oy = 0; oy < 12; oy++) {
        const uint8_t *from = line;
        int32_t right = 0;
        for (int32_t ox = 0; ox < 20; ox++) {
            /* Of a row: a part of the first pixel, whole ones, and a part of the last one. */
            const int32_t first = edgec_min_s32(COLUMNS - right, WIDE);
            const uint8_t *row = from;
            int32_t rows = edgec_min_s32(ROWS - down, TALL);
            edgec_pixel_t sum = {0U, 0U};
            for (int32_t height = TALL; height > 0; row += ROW) {
                const uint8_t *p = row;
                edgec_pixel_t across = {0U, 0U};
                edgec_add_pixel(&across, edgec_rgb565((uint32_t)p[0] << 8 | p[1]), (uint32_t)first);
                int32_t width = WIDE - first;
                for (; width >= COLUMNS; width -= COLUMNS) {
                    p += PIXEL;
                    edgec_add_pixel(&across, edgec_rgb565((uint32_t)p[0] << 8 | p[1]), COLUMNS);
                }
                if (width > 0) {
                    p += PIXEL;
                    edgec_add_pixel(&across, edgec_rgb565((uint32_t)p[0] << 8 | p[1]), (uint32_t)width);
                }
                edgec_add_pixel(&sum, across, (uint32_t)rows);
                height -= rows;
                rows = edgec_min_s32(ROWS, height);
            }
            const edgec_wide_pixel_t found = edgec_mean_pixel(sum, TALL * WIDE, 1U, 4U);
            *y++ = codes[found.first];
            *y++ = codes[256 + found.second];
            *y++ = codes[512 + found.third];
            right += WIDE % COLUMNS;
            from += WIDE / COLUMNS * PIXEL;
            if (right >= COLUMNS) {
                right -= COLUMNS;
                from += PIXEL;
            }
        }
        down += TALL % ROWS;
        line += TALL / ROWS * ROW;
        if (down >= ROWS) {
            down -= ROWS;
            line += ROW;
        }
    }
}
