/* Products of a matrix with a vector where two of four neighbours are not zero: sums alone, int8 by
 * int8 into int32. */
#include <stdint.h>

/* The places of each two are two bits each, in a byte for both. */
void two_of_four_rows(const int8_t *x, const uint8_t *places, const int8_t *w, int32_t groups,
                      int32_t rows, int32_t *sums);

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
