/* Means of windows of int8, a few words of channels at a time, as codes of int8.
 *
 * Sums are those of edgec/pooling/sums_s8.h.  They are short, so they are shifted to the left as
 * far as the multiplier's shift is less than 32: the code is the high word of one product. */
#ifndef EDGEC_POOLING_AVERAGE_S8_H
#define EDGEC_POOLING_AVERAGE_S8_H

#include "edgec/pooling/sums_s8.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Words whose sums stay in registers: as many as there is room for. */
#if defined(__ARM_FEATURE_DSP) || defined(__aarch64__)
#define EDGEC_AVERAGE_WORDS 2
#else
#define EDGEC_AVERAGE_WORDS 1
#endif

/* Numbers that make a code of the sum of the codes in a window, less INT8_MIN each. */
typedef struct edgec_average {
    int32_t zeros;      /* the codes of zero of all pixels, less INT8_MIN each */
    int32_t multiplier; /* that of this number of pixels */
    int32_t left;       /* shift to the left, with NEON 1 or more; shifted sums are within int32 */
    int32_t zero_point; /* of outputs */
    int32_t low;        /* bounds of outputs */
    int32_t high;
} edgec_average_t;

/* clamp(zero_point + round((sum - zeros) * 2^left * multiplier / 2^32)); `bounded`: to the bounds,
 * else to int8. */
EDGEC_INLINE int8_t edgec_average_code(int32_t sum, const edgec_average_t *numbers,
                                       int32_t bounded) {
    const int32_t shifted = (int32_t)((uint32_t)(sum - numbers->zeros) << numbers->left);
    const int32_t code = numbers->zero_point + edgec_requantize(shifted, numbers->multiplier, 32);
    if (bounded) {
        return (int8_t)edgec_clamp_s32(code, numbers->low, numbers->high);
    }
    return edgec_clamp_s8(code, INT8_MIN, INT8_MAX);
}

/* The codes of four sums of bytes with their sign bits flipped. */
EDGEC_INLINE void edgec_average_put(uint32_t even, uint32_t odd, int8_t *y,
                                    const edgec_average_t *numbers, int32_t bounded) {
    /* A copy, which stores to y cannot change. */
    const edgec_average_t own = *numbers;
    y[0] = edgec_average_code((int32_t)(even & 0xFFFFU), &own, bounded);
    y[1] = edgec_average_code((int32_t)(odd & 0xFFFFU), &own, bounded);
    y[2] = edgec_average_code((int32_t)(even >> 16), &own, bounded);
    y[3] = edgec_average_code((int32_t)(odd >> 16), &own, bounded);
}

/* The codes of `count` words of channels, one or two, the first of which is at x. */
EDGEC_INLINE void edgec_average_words(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                      const edgec_average_t *numbers, int32_t bounded,
                                      int32_t count) {
    const uint32_t signs = edgec_kept(0x80808080U);
    /* Sums of bytes 0 and 2, and of 1 and 3, of both words; gcc keeps an array in memory. */
    uint32_t even = 0;
    uint32_t odd = 0;
    uint32_t next_even = 0;
    uint32_t next_odd = 0;
    for (int32_t row = 0; row < shape->rows; row++, x += shape->row) {
        const int8_t *from = x;
        for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
            const uint32_t word = edgec_pooling_word(from) ^ signs;
            even = edgec_plus_bytes(even, word);
            odd = edgec_plus_bytes_high(odd, word);
            if (count > 1) {
                const uint32_t next = edgec_pooling_word(from + EDGEC_POOLING_WORD) ^ signs;
                next_even = edgec_plus_bytes(next_even, next);
                next_odd = edgec_plus_bytes_high(next_odd, next);
            }
        }
    }
    edgec_average_put(even, odd, y, numbers, bounded);
    if (count > 1) {
        edgec_average_put(next_even, next_odd, y + EDGEC_POOLING_WORD, numbers, bounded);
    }
}

/* The sum of the channel at x, less INT8_MIN each. */
EDGEC_INLINE int32_t edgec_sum_one(const int8_t *x, const edgec_window_shape_t *shape) {
    int32_t sum = 0;
    for (int32_t row = 0; row < shape->rows; row++, x += shape->row) {
        const int8_t *from = x;
        for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
            sum += *from - INT8_MIN;
        }
    }
    return sum;
}

#if defined(__ARM_NEON)
/* The codes of four sums of codes; `zeros`: the codes of zero of all pixels. */
EDGEC_INLINE int16x4_t edgec_average_four(const int32_t *sums, int32_t zeros,
                                          const edgec_average_t *numbers) {
    const int32x4_t sum = vsubq_s32(vld1q_s32(sums), vdupq_n_s32(zeros));
    const int32x4_t shifted = vshlq_s32(sum, vdupq_n_s32(numbers->left - 1));
    const int32x4_t scaled = vqrdmulhq_s32(shifted, vdupq_n_s32(numbers->multiplier));
    return vqmovn_s32(vaddq_s32(scaled, vdupq_n_s32(numbers->zero_point)));
}

/* Vectors of sixteen channels; returns those that are done. */
EDGEC_INLINE int32_t edgec_average_vectors(const int8_t *x, int8_t *y,
                                           const edgec_window_shape_t *shape,
                                           const edgec_average_t *numbers, int32_t channels) {
    const int8x16_t low = vdupq_n_s8((int8_t)numbers->low);
    const int8x16_t high = vdupq_n_s8((int8_t)numbers->high);
    const int32_t zeros = numbers->zeros + shape->rows * shape->columns * INT8_MIN;
    int32_t c = 0;
    for (; c <= channels - 16; c += 16) {
        int32_t sums[16];
        edgec_window_sums_neon(x, c, *shape, sums);
        const int16x8_t first = vcombine_s16(edgec_average_four(sums, zeros, numbers),
                                             edgec_average_four(sums + 4, zeros, numbers));
        const int16x8_t second = vcombine_s16(edgec_average_four(sums + 8, zeros, numbers),
                                              edgec_average_four(sums + 12, zeros, numbers));
        const int8x16_t codes = vcombine_s8(vqmovn_s16(first), vqmovn_s16(second));
        vst1q_s8(y + c, vminq_s8(vmaxq_s8(codes, low), high));
    }
    return c;
}
#endif

/* The codes of a window that begins at x.
 * Order: some channels of all pixels are read, then their outputs are written. */
EDGEC_INLINE void edgec_average(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                const edgec_average_t *numbers, int32_t bounded, int32_t channels) {
    const int32_t several = EDGEC_AVERAGE_WORDS * EDGEC_POOLING_WORD;
    int32_t c = 0;
#if defined(__ARM_NEON)
    c = edgec_average_vectors(x, y, shape, numbers, channels);
#endif
    if (edgec_pools_words(channels)) {
        for (; c <= channels - several; c += several) {
            edgec_average_words(x + c, y + c, shape, numbers, bounded, EDGEC_AVERAGE_WORDS);
        }
        for (; EDGEC_AVERAGE_WORDS > 1 && c <= channels - EDGEC_POOLING_WORD;
             c += EDGEC_POOLING_WORD) {
            edgec_average_words(x + c, y + c, shape, numbers, bounded, 1);
        }
    }
    for (; c < channels; c++) {
        y[c] = edgec_average_code(edgec_sum_one(x + c, shape), numbers, bounded);
    }
}

/* Those within int8, and those within the bounds. */
EDGEC_SEPARATE void edgec_average_s8(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                     const edgec_average_t *numbers, int32_t channels) {
    edgec_average(x, y, shape, numbers, 0, channels);
}

EDGEC_SEPARATE void edgec_average_bounded_s8(const int8_t *x, int8_t *y,
                                             const edgec_window_shape_t *shape,
                                             const edgec_average_t *numbers, int32_t channels) {
    edgec_average(x, y, shape, numbers, 1, channels);
}

#ifdef __cplusplus
}
#endif

#endif
