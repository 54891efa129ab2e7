/* Copies of rows of images and windows in vectors. */
#ifndef EDGEC_DENSE_COPY_NEON_H
#define EDGEC_DENSE_COPY_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `count` bytes, and up to 15 more. */
EDGEC_INLINE void edgec_neon_copy_whole(int8_t *to, const int8_t *from, int32_t count) {
    for (int32_t i = 0; i < count; i += 16) {
        vst1q_s8(to + i, vld1q_s8(from + i));
    }
}

/* Copies `count` bytes, a constant: in line, where a call of memcpy would look for a way first. */
EDGEC_INLINE void edgec_neon_copy(int8_t *to, const int8_t *from, int32_t count) {
#if defined(__aarch64__)
    const int32_t last = count % 64;
    for (const int8_t *const end = from + (count - last); from != end; from += 64, to += 64) {
        vst1q_s8_x4(to, vld1q_s8_x4(from));
    }
    memcpy(to, from, (size_t)last);
#else
    memcpy(to, from, (size_t)count);
#endif
}

#ifdef __cplusplus
}
#endif

#endif
#endif
