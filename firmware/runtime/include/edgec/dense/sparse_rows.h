/* Sums of the weights of a filter that are not zero, two to a word, times the activations of their
 * columns.
 *
 *     weights  [words] words            (column, column, weight, weight), the lowest byte first;
 *                                       columns are counted from the first one of their part, and a
 *                                       weight of 0 fills the last word of a part
 *              [units][parts] bytes     words of each part: 256 columns, and the rest of a row
 *
 * As edgec/kernels/generic/sparse_rows packs them. */
#ifndef EDGEC_DENSE_SPARSE_ROWS_H
#define EDGEC_DENSE_SPARSE_ROWS_H

#include <stdint.h>

#include "edgec/codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of a part: as many as a byte can tell apart. */
#define EDGEC_SPARSE_COLUMNS 256

/* Two columns and their weights; they lie in a constant of bytes. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) edgec_two_weights_t;
#else
typedef uint32_t edgec_two_weights_t;
#endif

/* The weight in the lowest byte of a number. */
EDGEC_INLINE int32_t edgec_sparse_weight(uint32_t number) {
    return (int8_t)(uint8_t)(number & 0xFFU);
}

/* Defines NAME(x, words, count, sum): `sum` and the products of a part whose first activation is
 * x[0].  The sum is taken modulo 2^32, on the way to one that fits. */
#define EDGEC_SPARSE_SUM(NAME, TYPE)                                                               \
    EDGEC_INLINE int32_t NAME(const TYPE *x, const edgec_two_weights_t *words, int32_t count,      \
                              int32_t sum) {                                                       \
        const edgec_two_weights_t *const end = words + count;                                      \
        if (count % 2 != 0) {                                                                      \
            const uint32_t word = *words++;                                                        \
            sum += x[word & 0xFFU] * edgec_sparse_weight(word >> 16);                              \
            sum += x[(word >> 8) & 0xFFU] * edgec_sparse_weight(word >> 24);                       \
        }                                                                                          \
        while (words != end) {                                                                     \
            const uint32_t word = words[0];                                                        \
            const uint32_t next = words[1];                                                        \
            words += 2;                                                                            \
            sum += x[word & 0xFFU] * edgec_sparse_weight(word >> 16);                              \
            sum += x[(word >> 8) & 0xFFU] * edgec_sparse_weight(word >> 24);                       \
            sum += x[next & 0xFFU] * edgec_sparse_weight(next >> 16);                              \
            sum += x[(next >> 8) & 0xFFU] * edgec_sparse_weight(next >> 24);                       \
        }                                                                                          \
        return sum;                                                                                \
    }

EDGEC_SPARSE_SUM(edgec_sparse_sum_s8, int8_t)
EDGEC_SPARSE_SUM(edgec_sparse_sum_s16, int16_t)

#ifdef __cplusplus
}
#endif

#endif
