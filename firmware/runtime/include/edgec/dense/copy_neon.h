/* Copies of rows of windows in whole vectors. */
#ifndef EDGEC_DENSE_COPY_NEON_H
#define EDGEC_DENSE_COPY_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

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

#ifdef __cplusplus
}
#endif

#endif
#endif
