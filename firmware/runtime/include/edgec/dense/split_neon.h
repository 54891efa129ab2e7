/* int16 as two bytes in planes of their own, with NEON.
 *
 * x = 256 * high + (low - 128) + 128, where high is the upper byte, with its sign, and low the
 * lower one.  So the products of int16 with int8 are those of two int8 (dense_8x8_s8_dot.h): 256
 * times the sum of high * w, and the sum of (low - 128) * w.  128 * w is in the biases
 * (edgec/kernels/neon/dense_8x8_s16_dot).  All of it is modulo 2^32, and the whole sum fits 32
 * bits.
 */
#ifndef EDGEC_DENSE_SPLIT_NEON_H
#define EDGEC_DENSE_SPLIT_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The byte of a value of 0 in the plane of low bytes. */
#define EDGEC_NEON_LOW_ZERO 0x80

/* Sixteen values. */
EDGEC_INLINE void edgec_neon_split16(int8_t *high, int8_t *low, const int16_t *from) {
    const int8x16x2_t bytes = vld2q_s8((const int8_t *)(const void *)from);
    vst1q_s8(high, bytes.val[1]);
    vst1q_s8(low, veorq_s8(bytes.val[0], vdupq_n_s8(INT8_MIN)));
}

/* Eight. */
EDGEC_INLINE void edgec_neon_split8(int8_t *high, int8_t *low, const int16_t *from) {
    const int8x8x2_t bytes = vld2_s8((const int8_t *)(const void *)from);
    vst1_s8(high, bytes.val[1]);
    vst1_s8(low, veor_s8(bytes.val[0], vdup_n_s8(INT8_MIN)));
}

/* `count` values, a constant. */
EDGEC_INLINE void edgec_neon_split(int8_t *high, int8_t *low, const int16_t *from, int32_t count) {
    if (count < 8) {
        for (int32_t i = 0; i < count; i++) {
            high[i] = (int8_t)(from[i] >> 8);
            low[i] = (int8_t)((from[i] & 0xFF) + INT8_MIN);
        }
        return;
    }
    if (count < 16) {
        /* The first eight, and the last eight, of which some are split again. */
        edgec_neon_split8(high, low, from);
        edgec_neon_split8(high + count - 8, low + count - 8, from + count - 8);
        return;
    }
    const int32_t rest = count % 16;
    for (const int16_t *const end = from + (count - rest); from != end; from += 16) {
        edgec_neon_split16(high, low, from);
        high += 16;
        low += 16;
    }
    if (rest > 0) {
        /* The last sixteen, of which some are split again. */
        edgec_neon_split16(high + rest - 16, low + rest - 16, from + rest - 16);
    }
}

#ifdef __cplusplus
}
#endif

#endif
#endif
