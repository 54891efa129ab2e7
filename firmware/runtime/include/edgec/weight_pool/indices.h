/* Packed indices into a weight pool.
 *
 * Indices of a layer are one stream of bits, the lowest first: index n takes the bits n * bits to
 * n * bits + bits - 1, and bit i of the stream is bit i % 8 of byte i / 8.
 * edgec/kernels/weightpool/unrolled.py writes it.
 */
#ifndef EDGEC_WEIGHT_POOL_INDICES_H
#define EDGEC_WEIGHT_POOL_INDICES_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A reader of a stream. */
typedef struct edgec_pool_indices {
    const uint8_t *next; /* first byte that is not in `window` */
    uint32_t window;     /* bits that were loaded and not read */
    int32_t count;       /* how many */
} edgec_pool_indices_t;

/* A reader that starts at the beginning of the stream at `indices`. */
EDGEC_INLINE edgec_pool_indices_t edgec_pool_indices(const void *indices) {
    const edgec_pool_indices_t reader = {(const uint8_t *)indices, 0U, 0};
    return reader;
}

/* The next index; bits in [1, 16], the same at every call.  Loads no byte before it is needed. */
EDGEC_INLINE int32_t edgec_next_index(edgec_pool_indices_t *reader, int32_t bits) {
    if (bits == 8) {
        return *reader->next++;
    }
    while (reader->count < bits) {
        reader->window |= (uint32_t)*reader->next++ << reader->count;
        reader->count += 8;
    }
    const uint32_t index = reader->window & ((1U << bits) - 1U);
    reader->window >>= bits;
    reader->count -= bits;
    return (int32_t)index;
}

#ifdef __cplusplus
}
#endif

#endif
