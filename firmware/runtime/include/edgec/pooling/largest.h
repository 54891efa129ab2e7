/* The largest codes of windows, a word of channels at a time.
 *
 * All bytes (or halves) of two words are compared at once: by SSUB8 and SEL with the DSP extension,
 * else by one difference of the words.  Cores with NEON take vectors of sixteen bytes first. */
#ifndef EDGEC_POOLING_LARGEST_H
#define EDGEC_POOLING_LARGEST_H

#include "edgec/pooling/words.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Words that stay in registers: as many as there is room for. */
#if defined(__ARM_FEATURE_DSP) || defined(__aarch64__)
#define EDGEC_LARGEST_WORDS 4
#else
#define EDGEC_LARGEST_WORDS 1
#endif

/* The larger one of each two bytes, or halves, of two words; `size`: bytes of a number. */
EDGEC_INLINE uint32_t edgec_larger(uint32_t a, uint32_t b, int32_t size) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    /* The difference only sets flags; a stays in its register. */
    uint32_t difference;
    if (size == 1) {
        __asm__("ssub8 %1, %0, %2\n\tsel %0, %0, %2" : "+r"(a), "=&r"(difference) : "r"(b) : "cc");
    } else {
        __asm__("ssub16 %1, %0, %2\n\tsel %0, %0, %2" : "+r"(a), "=&r"(difference) : "r"(b) : "cc");
    }
    return a;
#else
    /* The top bit of a number says that a is at least b: by the signs, or else the difference. */
    const uint32_t tops = edgec_kept((size == 1) ? 0x80808080U : 0x80008000U);
    const uint32_t differ = a ^ b;
    const uint32_t by_size = ((a | tops) - (b & ~tops)) & ~differ;
    const uint32_t least = ((b & ~a) | by_size) & tops;
    const uint32_t taken = (least << 1) - (least >> (8 * size - 1));
    return b ^ (differ & taken);
#endif
}

/* The largest numbers of `count` words, one or four, of all pixels, the first of which is at x. */
EDGEC_INLINE void edgec_largest_words(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                      int32_t size, int32_t count) {
    /* Names of their own: gcc keeps an array in memory. */
    uint32_t first = (size == 1) ? 0x80808080U : 0x80008000U;
    uint32_t second = first;
    uint32_t third = first;
    uint32_t fourth = first;
    for (int32_t row = 0; row < shape->rows; row++, x += shape->row) {
        const int8_t *from = x;
        for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
            const uint32_t word = edgec_pooling_word(from);
            if (count > 1) {
                const uint32_t words[] = {edgec_pooling_word(from + 4),
                                          edgec_pooling_word(from + 8),
                                          edgec_pooling_word(from + 12)};
                second = edgec_larger(second, words[0], size);
                third = edgec_larger(third, words[1], size);
                fourth = edgec_larger(fourth, words[2], size);
            }
            first = edgec_larger(first, word, size);
        }
    }
    edgec_put_pooling_word(y, first);
    if (count > 1) {
        edgec_put_pooling_word(y + 4, second);
        edgec_put_pooling_word(y + 8, third);
        edgec_put_pooling_word(y + 12, fourth);
    }
}

/* The largest number of all pixels, the first of which is at x. */
EDGEC_INLINE int32_t edgec_largest_one(const int8_t *x, const edgec_window_shape_t *shape,
                                       int32_t size) {
    int32_t largest = (size == 1) ? INT8_MIN : INT16_MIN;
    for (int32_t row = 0; row < shape->rows; row++, x += shape->row) {
        const int8_t *from = x;
        for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
            const int32_t number = (size == 1) ? *from : *(const edgec_s16_t *)(const void *)from;
            largest = edgec_max_s32(largest, number);
        }
    }
    return largest;
}

#if defined(__ARM_NEON)
/* Vectors of sixteen bytes; returns the bytes that are done. */
EDGEC_INLINE int32_t edgec_largest_vectors(const int8_t *x, int8_t *y,
                                           const edgec_window_shape_t *shape, int32_t size,
                                           int32_t bytes) {
    int32_t at = 0;
    for (; at <= bytes - 16; at += 16) {
        int8x16_t codes = vdupq_n_s8(INT8_MIN);
        int16x8_t numbers = vdupq_n_s16(INT16_MIN);
        for (int32_t row = 0; row < shape->rows; row++) {
            const int8_t *from = x + row * shape->row + at;
            for (int32_t left = shape->columns; left > 0; left--, from += shape->pixel) {
                if (size == 1) {
                    codes = vmaxq_s8(codes, vld1q_s8(from));
                } else {
                    numbers = vmaxq_s16(numbers, vreinterpretq_s16_s8(vld1q_s8(from)));
                }
            }
        }
        vst1q_s8(y + at, (size == 1) ? codes : vreinterpretq_s8_s16(numbers));
    }
    return at;
}
#endif

/* The largest numbers of a window that begins at x; one without pixels has the least number.
 * Order: some channels of all pixels are read, then their outputs are written. */
EDGEC_INLINE void edgec_largest(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                int32_t size, int32_t bytes) {
    const int32_t several = EDGEC_LARGEST_WORDS * EDGEC_POOLING_WORD;
    int32_t at = 0;
#if defined(__ARM_NEON)
    at = edgec_largest_vectors(x, y, shape, size, bytes);
#endif
    if (edgec_pools_words(bytes)) {
        for (; at <= bytes - several; at += several) {
            edgec_largest_words(x + at, y + at, shape, size, EDGEC_LARGEST_WORDS);
        }
        for (; at <= bytes - EDGEC_POOLING_WORD; at += EDGEC_POOLING_WORD) {
            edgec_largest_words(x + at, y + at, shape, size, 1);
        }
    }
    for (; at < bytes; at += size) {
        const int32_t largest = edgec_largest_one(x + at, shape, size);
        if (size == 1) {
            y[at] = (int8_t)largest;
        } else {
            *(edgec_s16_t *)(void *)(y + at) = (int16_t)largest;
        }
    }
}

/* Those of int8 and of int16. */
EDGEC_SEPARATE void edgec_largest_s8(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                     int32_t bytes) {
    edgec_largest(x, y, shape, 1, bytes);
}

EDGEC_SEPARATE void edgec_largest_s16(const int8_t *x, int8_t *y, const edgec_window_shape_t *shape,
                                      int32_t bytes) {
    edgec_largest(x, y, shape, 2, bytes);
}

#ifdef __cplusplus
}
#endif

#endif
