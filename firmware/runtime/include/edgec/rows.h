/* Layers that compute a few rows at a time: when they do, and rows that later turns read. */
#ifndef EDGEC_ROWS_H
#define EDGEC_ROWS_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of the time that a step of a chain runs in a turn, or -1.
 *
 * It runs in the turns phase + period * i for i in [0, times); period > 0.
 */
EDGEC_INLINE int32_t edgec_time(int32_t turn, int32_t phase, int32_t period, int32_t times) {
    if (turn < phase) {
        return -1;
    }
    const uint32_t gone = (uint32_t)(turn - phase);
    const uint32_t time = gone / (uint32_t)period;
    return time < (uint32_t)times && time * (uint32_t)period == gone ? (int32_t)time : -1;
}

/* Move rows up by the size of those that come next.
 *
 * rows: the kept ones go to its begin; at a multiple of 4.
 * kept, moved: bytes that stay, and by how many they move; multiples of 4.
 */
EDGEC_INLINE void edgec_slide(int8_t *rows, uint32_t kept, uint32_t moved) {
    for (uint32_t i = 0U; i < kept; i += 4U) {
        uint32_t word;
        memcpy(&word, rows + moved + i, sizeof word);
        memcpy(rows + i, &word, sizeof word);
    }
}

#ifdef __cplusplus
}
#endif

#endif
