/* Products of int8, or of int16, in halves of vectors, for depthwise convolutions with NEON.
 *
 * Products of some taps are added up in int16 lanes, as many as the weights of a layer allow
 * (edgec/kernels/neon/depthwise_s8_neon/channels.py), then in int32 lanes; those of int16 are
 * added up in int32 lanes at once.  Only kernels for cores
 * with NEON use these functions; there is no C form.  One source serves A64 and Armv7-A.
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_S8_NEON_H
#define EDGEC_DEPTHWISE_DEPTHWISE_S8_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x * w of the first eight of sixteen lanes, and sum + x * w.  On A64 in assembly: GCC 12 copies
 * the halves of weights into registers of their own, and has none left for anything else. */
#if defined(__GNUC__) && defined(__aarch64__)
EDGEC_INLINE int16x8_t edgec_neon_low_products(int8x16_t x, int8x16_t w) {
    int16x8_t products;
    __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(products) : "w"(x), "w"(w));
    return products;
}
EDGEC_INLINE int16x8_t edgec_neon_more_low_products(int16x8_t sum, int8x16_t x, int8x16_t w) {
    __asm__("smlal %0.8h, %1.8b, %2.8b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}
#else
EDGEC_INLINE int16x8_t edgec_neon_low_products(int8x16_t x, int8x16_t w) {
    return vmull_s8(vget_low_s8(x), vget_low_s8(w));
}
EDGEC_INLINE int16x8_t edgec_neon_more_low_products(int16x8_t sum, int8x16_t x, int8x16_t w) {
    return vmlal_s8(sum, vget_low_s8(x), vget_low_s8(w));
}
#endif

/* x * w of the last eight of sixteen lanes. */
EDGEC_INLINE int16x8_t edgec_neon_high_products(int8x16_t x, int8x16_t w) {
#if defined(__aarch64__)
    return vmull_high_s8(x, w);
#else
    return vmull_s8(vget_high_s8(x), vget_high_s8(w));
#endif
}

/* sum + x * w of the last eight of sixteen lanes. */
EDGEC_INLINE int16x8_t edgec_neon_more_high_products(int16x8_t sum, int8x16_t x, int8x16_t w) {
#if defined(__aarch64__)
    return vmlal_high_s8(sum, x, w);
#else
    return vmlal_s8(sum, vget_high_s8(x), vget_high_s8(w));
#endif
}

/* sum + the last four of eight lanes. */
EDGEC_INLINE int32x4_t edgec_neon_add_high(int32x4_t sum, int16x8_t values) {
#if defined(__aarch64__)
    return vaddw_high_s16(sum, values);
#else
    return vaddw_s16(sum, vget_high_s16(values));
#endif
}

/* Eight neighbouring int16, at any address. */
EDGEC_INLINE int16x8_t edgec_neon_eight_s16(const int8_t *from) {
    return vreinterpretq_s16_s8(vld1q_s8(from));
}

/* sum + x * w of the first four of eight lanes, and of the last four. */
#if defined(__GNUC__) && defined(__aarch64__)
EDGEC_INLINE int32x4_t edgec_neon_more_low_s16(int32x4_t sum, int16x8_t x, int16x8_t w) {
    __asm__("smlal %0.4s, %1.4h, %2.4h" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}
EDGEC_INLINE int32x4_t edgec_neon_more_high_s16(int32x4_t sum, int16x8_t x, int16x8_t w) {
    return vmlal_high_s16(sum, x, w);
}
#else
EDGEC_INLINE int32x4_t edgec_neon_more_low_s16(int32x4_t sum, int16x8_t x, int16x8_t w) {
    return vmlal_s16(sum, vget_low_s16(x), vget_low_s16(w));
}
EDGEC_INLINE int32x4_t edgec_neon_more_high_s16(int32x4_t sum, int16x8_t x, int16x8_t w) {
    return vmlal_s16(sum, vget_high_s16(x), vget_high_s16(w));
}
#endif

#ifdef __cplusplus
}
#endif

#endif
#endif
