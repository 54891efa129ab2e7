/* Sums over windows of int8, four channels at a time.
 *
 * The bytes of a word, with their sign bits flipped, are numbers from 0 on; the bytes 0 and 2 are
 * added up as the halves of one word, the others as those of a second one.  257 of them fit.  Cores
 * with NEON add up sixteen channels in the lanes of two vectors, likewise, or eight of int16 in 32
 * bits. */
#ifndef EDGEC_POOLING_SUMS_S8_H
#define EDGEC_POOLING_SUMS_S8_H

#include "edgec/pooling/words.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Channels that are summed up together in words. */
#define EDGEC_WINDOW_SUMS 4

/* Pixels of which sums surely fit. */
#define EDGEC_WINDOW_TERMS 256

/* The halves of `to` plus the bytes 0 and 2 of a word, as numbers from 0 to 255. */
EDGEC_INLINE uint32_t edgec_plus_bytes(uint32_t to, uint32_t word) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("uxtab16 %0, %1, %2" : "=r"(result) : "r"(to), "r"(word));
    return result;
#else
    return to + (word & 0x00FF00FFU);
#endif
}

/* The same with the bytes 1 and 3. */
EDGEC_INLINE uint32_t edgec_plus_bytes_high(uint32_t to, uint32_t word) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("uxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(to), "r"(word));
    return result;
#else
    return to + ((word >> 8) & 0x00FF00FFU);
#endif
}

/* The sums of the channels `at` to `at` + 3 of a window; x[at] is in its first pixel.  All of them
 * lie at multiples of four bytes. */
EDGEC_SEPARATE void edgec_window_sums(const int8_t *x, int32_t at, edgec_window_shape_t shape,
                                      int32_t *sums) {
    const uint32_t signs = edgec_kept(0x80808080U);
    uint32_t even = 0;
    uint32_t odd = 0;
    if (shape.row == shape.columns * shape.pixel) {
        shape.columns *= shape.rows;
        shape.rows = 1;
    }
    for (int32_t i = 0; i < shape.rows; i++) {
        const int8_t *from = x + at + i * shape.row;
        for (int32_t j = 0; j < shape.columns; j++, from += shape.pixel) {
            const uint32_t word = *(const edgec_pair_t *)(const void *)from ^ signs;
            even = edgec_plus_bytes(even, word);
            odd = edgec_plus_bytes_high(odd, word);
        }
    }
    const int32_t zeros = shape.rows * shape.columns * -INT8_MIN;
    sums[0] = (int32_t)(even & 0xFFFFU) - zeros;
    sums[1] = (int32_t)(odd & 0xFFFFU) - zeros;
    sums[2] = (int32_t)(even >> 16) - zeros;
    sums[3] = (int32_t)(odd >> 16) - zeros;
}

#if defined(__ARM_NEON)
/* The sums of the sixteen channels from `at` on, which may lie anywhere. */
EDGEC_SEPARATE void edgec_window_sums_neon(const int8_t *x, int32_t at, edgec_window_shape_t shape,
                                           int32_t *sums) {
    const uint8x16_t signs = vdupq_n_u8(0x80);
    uint16x8_t low = vdupq_n_u16(0);
    uint16x8_t high = vdupq_n_u16(0);
    if (shape.row == shape.columns * shape.pixel) {
        shape.columns *= shape.rows;
        shape.rows = 1;
    }
    for (int32_t i = 0; i < shape.rows; i++) {
        const int8_t *from = x + at + i * shape.row;
        for (int32_t j = 0; j < shape.columns; j++, from += shape.pixel) {
            const uint8x16_t codes = veorq_u8(vreinterpretq_u8_s8(vld1q_s8(from)), signs);
            low = vaddw_u8(low, vget_low_u8(codes));
            high = vaddw_u8(high, vget_high_u8(codes));
        }
    }
    const int32x4_t zeros = vdupq_n_s32(shape.rows * shape.columns * -INT8_MIN);
    vst1q_s32(sums, vsubq_s32(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low))), zeros));
    vst1q_s32(sums + 4, vsubq_s32(vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(low))), zeros));
    vst1q_s32(sums + 8, vsubq_s32(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high))), zeros));
    vst1q_s32(sums + 12, vsubq_s32(vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(high))), zeros));
}

/* The sums of the eight channels of int16 from `at` on; lengths of `shape` are in elements. */
EDGEC_SEPARATE void edgec_window_sums_s16_neon(const int16_t *x, int32_t at,
                                               edgec_window_shape_t shape, int32_t *sums) {
    int32x4_t low = vdupq_n_s32(0);
    int32x4_t high = vdupq_n_s32(0);
    if (shape.row == shape.columns * shape.pixel) {
        shape.columns *= shape.rows;
        shape.rows = 1;
    }
    for (int32_t i = 0; i < shape.rows; i++) {
        const int16_t *from = x + at + i * shape.row;
        for (int32_t j = 0; j < shape.columns; j++, from += shape.pixel) {
            const int16x8_t values = vld1q_s16(from);
            low = vaddw_s16(low, vget_low_s16(values));
            high = vaddw_s16(high, vget_high_s16(values));
        }
    }
    vst1q_s32(sums, low);
    vst1q_s32(sums + 4, high);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
