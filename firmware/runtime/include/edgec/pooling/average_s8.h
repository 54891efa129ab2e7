/* Means of windows of int8, a few words of channels at a time, as codes of int8.
 *
 * The codes of a word, bytes 0 and 2 and bytes 1 and 3, are added up as the halves of two words,
 * beginning with the codes of zero of all pixels, negated: a half is the sum less these, and its
 * code a product with 32 bits whose last 16 are not needed. */
#ifndef EDGEC_POOLING_AVERAGE_S8_H
#define EDGEC_POOLING_AVERAGE_S8_H

#include "edgec/pooling/sums_s8.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Words whose sums stay in registers: as many as there is room for, or fewer where small code is
 * preferred. */
#if (defined(__ARM_FEATURE_DSP) || defined(__aarch64__)) && !defined(__OPTIMIZE_SIZE__)
#define EDGEC_AVERAGE_WORDS 4
#elif defined(__ARM_FEATURE_DSP) || defined(__aarch64__) || defined(__thumb2__)
#define EDGEC_AVERAGE_WORDS 2
#else
#define EDGEC_AVERAGE_WORDS 1
#endif

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
/* A word that lies anywhere. */
typedef uint32_t __attribute__((aligned(1), may_alias)) edgec_average_word_t;
#endif

/* Numbers that make a code of the sum of the codes in a window. */
typedef struct edgec_average {
    int32_t zeros;      /* the codes of zero of all pixels; sums less these are within int16 */
    int32_t multiplier; /* that of this number of pixels */
    int32_t left;       /* shift to the left, from 0 to 15, with NEON 1 or more */
    int32_t zero_point; /* of outputs */
    int32_t low;        /* bounds of outputs */
    int32_t high;
} edgec_average_t;

/* The same, as the functions below keep them. */
typedef struct edgec_average_steps {
    uint32_t start; /* sums begin with it */
    uint32_t signs; /* bits of a word that are flipped before it is added */
    int32_t multiplier;
    int32_t offset; /* zero point and half of a step, before the last shift */
    int32_t right;
    int32_t low;
    int32_t high;
} edgec_average_steps_t;

/* Numbers for a window of `pixels`.  With the DSP extension halves are added up apart from each
 * other, and bytes as they are; else bytes count from 0 on, and what a lower half borrows or
 * carries is in the upper one. */
EDGEC_INLINE edgec_average_steps_t edgec_average_steps(const edgec_average_t *numbers,
                                                       int32_t pixels) {
    const int32_t right = 16 - numbers->left;
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    (void)pixels;
    const uint32_t zeros = (uint32_t)-numbers->zeros;
    const uint32_t start = (zeros & 0xFFFFU) | (zeros << 16);
    const uint32_t signs = 0;
#else
    const uint32_t zeros = (uint32_t)(pixels * INT8_MIN - numbers->zeros);
    const uint32_t start = zeros + (zeros << 16);
    const uint32_t signs = edgec_kept(0x80808080U);
#endif
    return (edgec_average_steps_t){
        .start = start,
        .signs = signs,
        .multiplier = numbers->multiplier,
        .offset = numbers->zero_point * ((int32_t)1 << right) + ((int32_t)1 << (right - 1)),
        .right = right,
        .low = numbers->low,
        .high = numbers->high,
    };
}

/* The halves of `to` plus the bytes 0 and 2 of a word. */
EDGEC_INLINE uint32_t edgec_average_plus(uint32_t to, uint32_t word) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    __asm__("sxtab16 %0, %0, %1" : "+r"(to) : "r"(word));
    return to;
#else
    return edgec_plus_bytes(to, word);
#endif
}

/* The same with the bytes 1 and 3. */
EDGEC_INLINE uint32_t edgec_average_plus_high(uint32_t to, uint32_t word) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(to) : "r"(word));
    return to;
#else
    return edgec_plus_bytes_high(to, word);
#endif
}

/* Two words that follow each other, added to their sums. */
EDGEC_INLINE void edgec_average_plus_two(const int8_t *from, uint32_t signs, uint32_t *even,
                                         uint32_t *odd, uint32_t *next_even, uint32_t *next_odd) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    /* Loads beside each other take a cycle less; gcc moves them apart. */
    uint32_t word;
    uint32_t next;
    (void)signs;
    __asm__("ldr %4, %6\n\t"
            "ldr %5, %7\n\t"
            "sxtab16 %0, %0, %4\n\t"
            "sxtab16 %1, %1, %4, ror #8\n\t"
            "sxtab16 %2, %2, %5\n\t"
            "sxtab16 %3, %3, %5, ror #8"
            : "+r"(*even), "+r"(*odd), "+r"(*next_even), "+r"(*next_odd), "=&r"(word), "=&r"(next)
            : "m"(*(const edgec_average_word_t *)(const void *)from),
              "m"(*(const edgec_average_word_t *)(const void *)(from + 4)));
#else
    const uint32_t word = edgec_pooling_word(from) ^ signs;
    const uint32_t next = edgec_pooling_word(from + 4) ^ signs;
    *even = edgec_average_plus(*even, word);
    *odd = edgec_average_plus_high(*odd, word);
    *next_even = edgec_average_plus(*next_even, next);
    *next_odd = edgec_average_plus_high(*next_odd, next);
#endif
}

/* offset + floor(multiplier * sum / 2^16) of a sum within int16; 0 <= multiplier < 2^31. */
EDGEC_INLINE int32_t edgec_average_scaled(int32_t sum, const edgec_average_steps_t *own) {
    const int32_t part = (int32_t)((uint32_t)own->multiplier & 0xFFFFU) * sum;
    return own->offset + (own->multiplier >> 16) * sum + (part >> 16);
}

/* That of the lower half of a word, and of the upper one. */
EDGEC_INLINE int32_t edgec_average_lower(uint32_t sums, const edgec_average_steps_t *own) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    int32_t scaled;
    __asm__("smlawb %0, %1, %2, %3"
            : "=r"(scaled)
            : "r"(own->multiplier), "r"(sums), "r"(own->offset));
    return scaled;
#else
    return edgec_average_scaled((int16_t)(sums & 0xFFFFU), own);
#endif
}

EDGEC_INLINE int32_t edgec_average_upper(uint32_t sums, const edgec_average_steps_t *own) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    int32_t scaled;
    __asm__("smlawt %0, %1, %2, %3"
            : "=r"(scaled)
            : "r"(own->multiplier), "r"(sums), "r"(own->offset));
    return scaled;
#else
    return edgec_average_scaled((int32_t)(sums + 0x8000U) >> 16, own);
#endif
}

/* The code of a scaled sum; `bounded`: to the bounds, else to int8. */
EDGEC_INLINE int8_t edgec_average_code(int32_t scaled, const edgec_average_steps_t *own,
                                       int32_t bounded) {
    const int32_t code = scaled >> own->right;
    if (bounded) {
        return (int8_t)edgec_clamp_s32(code, own->low, own->high);
    }
    return edgec_clamp_s8(code, INT8_MIN, INT8_MAX);
}

/* The codes of four sums. */
EDGEC_INLINE void edgec_average_put(uint32_t even, uint32_t odd, int8_t *y,
                                    const edgec_average_steps_t *own, int32_t bounded) {
    y[0] = edgec_average_code(edgec_average_lower(even, own), own, bounded);
    y[1] = edgec_average_code(edgec_average_lower(odd, own), own, bounded);
    y[2] = edgec_average_code(edgec_average_upper(even, own), own, bounded);
    y[3] = edgec_average_code(edgec_average_upper(odd, own), own, bounded);
}

/* The codes of `count` words of channels, one, two or four, the first of which is at x. */
EDGEC_INLINE void edgec_average_words(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                      const edgec_average_steps_t *own, int32_t bounded,
                                      int32_t count) {
    /* Sums of bytes 0 and 2, and of 1 and 3, of each word; gcc keeps an array in memory. */
    uint32_t even = own->start;
    uint32_t odd = own->start;
    uint32_t second_even = own->start;
    uint32_t second_odd = own->start;
    uint32_t third_even = own->start;
    uint32_t third_odd = own->start;
    uint32_t fourth_even = own->start;
    uint32_t fourth_odd = own->start;
    for (int32_t row = 0; row < shape->rows; row++, x += shape->row) {
        const int8_t *from = x;
        for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
            if (count == 1) {
                const uint32_t word = edgec_pooling_word(from) ^ own->signs;
                even = edgec_average_plus(even, word);
                odd = edgec_average_plus_high(odd, word);
            } else {
                edgec_average_plus_two(from, own->signs, &even, &odd, &second_even, &second_odd);
            }
            if (count > 2) {
                edgec_average_plus_two(from + 8, own->signs, &third_even, &third_odd, &fourth_even,
                                       &fourth_odd);
            }
        }
    }
    edgec_average_put(even, odd, y, own, bounded);
    if (count > 1) {
        edgec_average_put(second_even, second_odd, y + 4, own, bounded);
    }
    if (count > 2) {
        edgec_average_put(third_even, third_odd, y + 8, own, bounded);
        edgec_average_put(fourth_even, fourth_odd, y + 12, own, bounded);
    }
}

/* The code of the channel at x. */
EDGEC_INLINE int8_t edgec_average_one(const int8_t *x, const edgec_window_shape_t *shape,
                                      const edgec_average_steps_t *own, int32_t zeros,
                                      int32_t bounded) {
    int32_t sum = -zeros;
    for (int32_t row = 0; row < shape->rows; row++, x += shape->row) {
        const int8_t *from = x;
        for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
            sum += *from;
        }
    }
    return edgec_average_code(edgec_average_scaled(sum, own), own, bounded);
}

#if defined(__ARM_NEON)
/* The codes of four sums of codes. */
EDGEC_INLINE int16x4_t edgec_average_four(const int32_t *sums, const edgec_average_t *numbers) {
    const int32x4_t sum = vsubq_s32(vld1q_s32(sums), vdupq_n_s32(numbers->zeros));
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
    int32_t c = 0;
    for (; c <= channels - 16; c += 16) {
        int32_t sums[16];
        edgec_window_sums_neon(x, c, *shape, sums);
        const int16x8_t first =
            vcombine_s16(edgec_average_four(sums, numbers), edgec_average_four(sums + 4, numbers));
        const int16x8_t second = vcombine_s16(edgec_average_four(sums + 8, numbers),
                                              edgec_average_four(sums + 12, numbers));
        const int8x16_t codes = vcombine_s8(vqmovn_s16(first), vqmovn_s16(second));
        vst1q_s8(y + c, vminq_s8(vmaxq_s8(codes, low), high));
    }
    return c;
}
#endif

/* The codes of `outputs` windows, the first of which begins at x, each `step` bytes after the one
 * before it.
 * Order: window by window some channels of all pixels are read, then their outputs are written. */
EDGEC_INLINE void edgec_average(const int8_t *x, int8_t *y, edgec_window_shape_t shape,
                                const edgec_average_t *numbers, int32_t bounded, int32_t channels,
                                int32_t outputs, int32_t step) {
    if (shape.row == shape.columns * shape.pixel) {
        shape.columns *= shape.rows;
        shape.rows = 1;
    }
    const edgec_average_steps_t own = edgec_average_steps(numbers, shape.rows * shape.columns);
    const int32_t several = EDGEC_AVERAGE_WORDS * EDGEC_POOLING_WORD;
    for (; outputs > 0; outputs--, x += step, y += channels) {
        int32_t c = 0;
#if defined(__ARM_NEON)
        c = edgec_average_vectors(x, y, &shape, numbers, channels);
#endif
        if (edgec_pools_words(channels)) {
            for (; c <= channels - several; c += several) {
                edgec_average_words(x + c, y + c, &shape, &own, bounded, EDGEC_AVERAGE_WORDS);
            }
            for (; EDGEC_AVERAGE_WORDS > 2 && c <= channels - 8; c += 8) {
                edgec_average_words(x + c, y + c, &shape, &own, bounded, 2);
            }
            for (; EDGEC_AVERAGE_WORDS > 1 && c <= channels - 4; c += 4) {
                edgec_average_words(x + c, y + c, &shape, &own, bounded, 1);
            }
        }
        for (; c < channels; c++) {
            y[c] = edgec_average_one(x + c, &shape, &own, numbers->zeros, bounded);
        }
    }
}

/* Those within int8, and those within the bounds. */
EDGEC_SEPARATE void edgec_average_s8(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                     const edgec_average_t *numbers, int32_t channels,
                                     int32_t outputs, int32_t step) {
    edgec_average(x, y, *shape, numbers, 0, channels, outputs, step);
}

EDGEC_SEPARATE void edgec_average_bounded_s8(const int8_t *x, int8_t *y,
                                             const edgec_window_shape_t *shape,
                                             const edgec_average_t *numbers, int32_t channels,
                                             int32_t outputs, int32_t step) {
    edgec_average(x, y, *shape, numbers, 1, channels, outputs, step);
}

#ifdef __cplusplus
}
#endif

#endif
