/* The taps of a sliding window that lie inside the image, along one axis.
 *
 * Tap k of a window that begins at `start` (negative: before the image) reads position
 * start + k * dilation.  The taps inside [0, size) are first_tap <= k < end_tap; there are none
 * when end_tap <= first_tap.
 */
#ifndef EDGEC_POOLING_WINDOW_H
#define EDGEC_POOLING_WINDOW_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Least k >= 0 with start + k * dilation >= 0; dilation >= 1. */
EDGEC_INLINE int32_t edgec_first_tap(int32_t start, int32_t dilation) {
    return (start >= 0) ? 0 : (dilation - 1 - start) / dilation;
}

/* Least k >= 0 with start + k * dilation >= size, but at most `taps`. */
EDGEC_INLINE int32_t edgec_end_tap(int32_t start, int32_t dilation, int32_t size, int32_t taps) {
    if (start >= size) {
        return 0;
    }
    const int32_t end = (size - start + dilation - 1) / dilation;
    return (end < taps) ? end : taps;
}

/* The taps of a transposed convolution that join output `at` (padding added) to an input: those
 * with at - k * dilation = stride * i, 0 <= i < size.  From the first of them, `taps` if there is
 * none, they follow each other in equal steps; no tap from the end on has an input. */
EDGEC_INLINE int32_t edgec_first_joined(int32_t at, int32_t dilation, int32_t stride, int32_t size,
                                        int32_t taps) {
    for (int32_t k = 0; k < taps; k++, at -= dilation) {
        if (at >= 0 && at % stride == 0 && at / stride < size) {
            return k;
        }
    }
    return taps;
}

EDGEC_INLINE int32_t edgec_end_joined(int32_t at, int32_t dilation, int32_t taps) {
    return edgec_min_s32(at / dilation + 1, taps);
}

#ifdef __cplusplus
}
#endif

#endif
