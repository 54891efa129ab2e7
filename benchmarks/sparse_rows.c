/* Products of a matrix that is mostly zero with a vector: sums alone, int8 by int8 into int32. */
#include <stdint.h>

/* Weights that are not zero, row by row: `counts` of them each, and how far each lies after the one
 * before it.  A weight of 0 stands where more than 255 zeros follow each other. */
void sparse_rows(const int8_t *x, const uint8_t *gaps, const int8_t *w, const uint16_t *counts,
                 int32_t rows, int32_t *sums);

/* Two of four neighbours are not zero: their places, two bits each, in a byte for both. */
void two_of_four_rows(const int8_t *x, const uint8_t *places, const int8_t *w, int32_t groups,
                      int32_t rows, int32_t *sums);

void sparse_rows(const int8_t *x, const uint8_t *gaps, const int8_t *w, const uint16_t *counts,
                 int32_t rows, int32_t *sums) {
    for (int32_t row = 0; row < rows; row++) {
        const int8_t *at = x;
        const int8_t *const end = w + counts[row];
        int32_t sum = 0;
        while (end - w >= 4) {
            at += gaps[0];
            sum += w[0] * *at;
            at += gaps[1];
            sum += w[1] * *at;
            at += gaps[2];
            sum += w[2] * *at;
            at += gaps[3];
            sum += w[3] * *at;
            gaps += 4;
            w += 4;
        }
        while (w != end) {
            at += *gaps++;
            sum += *w++ * *at;
        }
        sums[row] = sum;
    }
}

void two_of_four_rows(const int8_t *x, const uint8_t *places, const int8_t *w, int32_t groups,
                      int32_t rows, int32_t *sums) {
    for (int32_t row = 0; row < rows; row++) {
        const int8_t *at = x;
        int32_t sum = 0;
        for (int32_t group = 0; group < groups; group++) {
            const uint32_t both = *places++;
            sum += w[0] * at[both & 3];
            sum += w[1] * at[both >> 2];
            at += 4;
            w += 2;
        }
        sums[row] = sum;
    }
}
