/* 3 matrix products [4, 5] by 11 columns, int8 and int16 to int8. */
EDGEC_SEPARATE void matmul_neon_s8_0(const int8_t *a, const edgec_s16_t *b, int8_t *y, int8_t *scratch, const edgec_single_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 5,
        COLUMNS = 11,
        PADDED = 8,
        BLOCK = 16,
    };
    const edgec_single_params_t p = *params;
    int16_t *const rows = (int16_t *)(void *)scratch;
    int16_t *const columns = rows + 4 * PADDED;
    int8_t *const part = (int8_t *)(void *)(columns + BLOCK * PADDED);
    int8_t *out = y;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        const int8_t *const left = a + i0 * 20;
        const edgec_s16_t *const right = b + i0 * 0;
        for (int32_t first = 0; first < COLUMNS; first += BLOCK) {
            const int32_t last = edgec_min_s32(COLUMNS, first + BLOCK);
            for (int32_t column = first; column < first + BLOCK; column += 4) {
                /* Nobody reads the columns after the last one. */
                const int32_t own = edgec_min_s32(column, COLUMNS - 1);
                edgec_neon_fours_s16(right + own * 1, 1, 11, edgec_min_s32(COLUMNS - own, 4), DEPTH, PADDED, p.b_zero_point, columns + (column - first) * PADDED);
            }
            for (int32_t row = 0; row < ROWS; row += 4) {
                const int32_t count = edgec_min_s32(ROWS - row, 4);
                edgec_neon_fours_s8(left + row * 5, 5, 1, count, DEPTH, PADDED, p.a_zero_point, rows);
                for (int32_t column = first; column < last; column += 8) {
                    edgec_eight_s32_t sums[4];
                    edgec_neon_matmul(rows, columns + (column - first) * PADDED, PADDED, 0, sums);
                    for (int32_t r = 0; r < count; r++) {
                        int8_t *const to = out + (row + r) * COLUMNS + column;
                        const int16x8_t codes = edgec_eight_requantized(sums[r], p.multiplier, 40, p.y_zero_point, -128, 127);
                        if (last - column >= 8) {
                            edgec_neon_store8_s8(to, codes);
                        } else {
                            edgec_neon_store8_s8(part, codes);
                            for (int32_t c = 0; c < last - column; c++) {
                                to[c] = part[c];
                            }
                        }
                    }
                }
            }
        }
        out += ROWS * COLUMNS;
    }
}
