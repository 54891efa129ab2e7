/* 3 matrix products [4, 5] by 6 columns, int8 and int8 to int8. */
EDGEC_SEPARATE void matmul_dsp_s8_0(const int8_t *a, const int8_t *b, int8_t *y, int8_t *scratch, const edgec_single_params_t *params)
{
    enum {
        ROWS = 4,
        DEPTH = 5,
        COLUMNS = 6,
        PAIRS = 4,
        BLOCK = 6,
    };
    const edgec_single_params_t p = *params;
    edgec_pair_t *const rows = (edgec_pair_t *)(void *)scratch;
    edgec_pair_t *const columns = rows + 2 * PAIRS;
    int8_t *out = y;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        const int8_t *const left = a + i0 * 20;
        const int8_t *const right = b + i0 * 0;
        for (int32_t first = 0; first < COLUMNS; first += BLOCK) {
            const int32_t count = edgec_min_s32(COLUMNS - first, BLOCK);
            /* The last one of an odd number of columns, or rows, stands twice. */
            for (int32_t column = 0; column < count + count % 2; column++) {
                const int32_t own = edgec_min_s32(first + column, COLUMNS - 1);
                edgec_matmul_pairs_s8(right + own * 5, 1, DEPTH, p.b_zero_point, columns + column * PAIRS);
            }
            for (int32_t row = 0; row < ROWS; row += 2) {
                const int32_t both = edgec_min_s32(ROWS - row, 2);
                for (int32_t r = 0; r < 2; r++) {
                    const int32_t own = edgec_min_s32(row + r, ROWS - 1);
                    edgec_matmul_pairs_s8(left + own * 5, 1, DEPTH, p.a_zero_point, rows + r * PAIRS);
                }
                for (int32_t column = 0; column < count; column += 2) {
                    int32_t sums[4];
                    edgec_matmul_dot_s32(rows, columns + column * PAIRS, PAIRS, sums);
                    for (int32_t c = 0; c < edgec_min_s32(count - column, 2); c++) {
                        int8_t *const to = out + row * COLUMNS + first + column + c;
                        to[0] = edgec_rescale_s8(p.bias + sums[c], p.multiplier, 3, 9, -127, 127);
                        if (both > 1) {
                            to[COLUMNS] = edgec_rescale_s8(p.bias + sums[c + 2], p.multiplier, 3, 9, -127, 127);
                        }
                    }
                }
            }
        }
        out += ROWS * COLUMNS;
    }
}
