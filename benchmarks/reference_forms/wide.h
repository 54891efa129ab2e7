/* Requantization with a 64-bit product, as TensorFlow Lite and CMSIS-NN do it. */
#ifndef WIDE_H
#define WIDE_H

#include <stdint.h>

static inline int32_t clamp_s8(int32_t x) {
    if (x < INT8_MIN) {
        return INT8_MIN;
    }
    return (x > INT8_MAX) ? INT8_MAX : x;
}

/* x * multiplier * 2^-shift rounded half up, limited to int8; the multiplier has 31 bits, the shift
 * is 31 or more. */
static inline int32_t wide_rescale(int32_t x, int32_t multiplier, int32_t shift) {
    const int64_t half = (int64_t)1 << (shift - 1);
    return clamp_s8((int32_t)(((int64_t)x * multiplier + half) >> shift));
}

#endif
