/* Depthwise convolutions of 3x3 windows with the DSP extension, on channels unpacked to int16.
 *
 * Four channels at a time are unpacked from NHWC: a word holds one channel of two neighbouring rows
 * of the image.  Padding is stored, too, so that windows need no bounds checks.  The words of the
 * four channels come first, then those of the next pair of rows, then the next column.
 *
 *     planes   [columns][pairs of rows][4 channels]
 *     weights  [channels][columns of the window][4]: w0, w1, w1, w2 of the three rows for stride 1;
 *              w0, w2, w1 and any byte for stride 2
 */
#ifndef EDGEC_DEPTHWISE_UNPACKED_S8_DSP_H
#define EDGEC_DEPTHWISE_UNPACKED_S8_DSP_H

#include <stdbool.h>
#include <stdint.h>

#include "edgec/arithmetic/pairs_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channels that are unpacked together. */
#define EDGEC_DEPTHWISE_3X3 4

/* The low halves of a and b. */
EDGEC_INLINE uint32_t edgec_lows(uint32_t a, uint32_t b) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(result) : "r"(a), "r"(b));
    return result;
#else
    return (a & 0xFFFFU) | (b << 16);
#endif
}

/* The high halves of a and b. */
EDGEC_INLINE uint32_t edgec_highs(uint32_t a, uint32_t b) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t result;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(result) : "r"(b), "r"(a));
    return result;
#else
    return (a >> 16) | (b & 0xFFFF0000U);
#endif
}

/* Layout of an image's columns in planes. */
typedef struct edgec_depthwise_3x3_image {
    uint32_t padding; /* four times the code outside the image */
    int32_t height;
    int32_t row;      /* bytes from row to row of the image */
    int32_t channels; /* bytes from pixel to pixel */
    int32_t left;     /* columns of padding before the image */
    int32_t inside;   /* columns of the image */
    int32_t column;   /* words from column to column of the planes */
} edgec_depthwise_3x3_image_t;

/* Four channels of the pixels a and b, one below the other. */
EDGEC_INLINE void edgec_depthwise_3x3_put(uint32_t a, uint32_t b, edgec_pair_t *to) {
    const uint32_t low = edgec_lows(a, b);
    const uint32_t high = edgec_highs(a, b);
    to[0] = edgec_sxtb16(low);
    to[1] = edgec_sxtb16_high(low);
    to[2] = edgec_sxtb16(high);
    to[3] = edgec_sxtb16_high(high);
}

/* Fills the columns `first` to `end` of planes, which are outside the image, with padding. */
EDGEC_SEPARATE void edgec_depthwise_3x3_pad(edgec_pair_t *planes,
                                            const edgec_depthwise_3x3_image_t *image, int32_t first,
                                            int32_t end) {
    const uint32_t padding = image->padding;
    edgec_pair_t *const stop = planes + end * image->column;
    for (edgec_pair_t *to = planes + first * image->column; to < stop; to += EDGEC_DEPTHWISE_3X3) {
        edgec_depthwise_3x3_put(padding, padding, to);
    }
}

/* Unpacks `pairs` pairs of rows that are inside the image; x is their first pixel. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Two columns a turn.  Registers: bytes from row to row in r2, from column to column of the planes
 * in r4 and of the image in r6, columns in r5, those that are left, less two, in r7. */
EDGEC_SEPARATE void edgec_depthwise_3x3_rows(const int8_t *x, edgec_pair_t *to,
                                      const edgec_depthwise_3x3_image_t *image, int32_t pairs) {
    register const int8_t *from __asm__("r0") = x;
    register edgec_pair_t *at __asm__("r1") = to;
    register const edgec_depthwise_3x3_image_t *rows __asm__("r2") = image;
    register int32_t left __asm__("r3") = pairs;
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "ldr r4, [r2, #24]\n"
        "ldr r5, [r2, #20]\n"
        "ldr r6, [r2, #12]\n"
        "ldr r2, [r2, #8]\n"
        "lsl r4, r4, #2\n"
        "add r12, r2, r6\n"
        "1:\n"
        "push {r0, r1}\n"
        "subs r7, r5, #2\n"
        "blt 3f\n"
        ".p2align 2\n"
        "2:\n"
        "ldr r8, [r0]\n"
        "ldr r9, [r0, r2]\n"
        "ldr r10, [r0, r6]\n"
        "ldr r11, [r0, r12]\n"
        "add r0, r0, r6, lsl #1\n"
        "pkhbt lr, r8, r9, lsl #16\n"
        "pkhtb r8, r9, r8, asr #16\n"
        "pkhbt r9, r10, r11, lsl #16\n"
        "pkhtb r10, r11, r10, asr #16\n"
        "sxtb16 r11, lr\n"
        "sxtb16 lr, lr, ror #8\n"
        "str r11, [r1]\n"
        "str lr, [r1, #4]\n"
        "sxtb16 r11, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "str r11, [r1, #8]\n"
        "str r8, [r1, #12]\n"
        "add r1, r1, r4\n"
        "sxtb16 r11, r9\n"
        "sxtb16 r9, r9, ror #8\n"
        "sxtb16 lr, r10\n"
        "sxtb16 r10, r10, ror #8\n"
        "str r11, [r1]\n"
        "str r9, [r1, #4]\n"
        "str lr, [r1, #8]\n"
        "str r10, [r1, #12]\n"
        "add r1, r1, r4\n"
        "subs r7, r7, #2\n"
        "bge 2b\n"
        "3:\n"
        "cmn r7, #2\n"
        "beq 4f\n"
        "ldr r8, [r0]\n"
        "ldr r9, [r0, r2]\n"
        "pkhbt lr, r8, r9, lsl #16\n"
        "pkhtb r8, r9, r8, asr #16\n"
        "sxtb16 r10, lr\n"
        "sxtb16 lr, lr, ror #8\n"
        "sxtb16 r11, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "str r10, [r1]\n"
        "str lr, [r1, #4]\n"
        "str r11, [r1, #8]\n"
        "str r8, [r1, #12]\n"
        "4:\n"
        "pop {r0, r1}\n"
        "add r0, r0, r2, lsl #1\n"
        "add r1, r1, #16\n"
        "subs r3, r3, #1\n"
        "bne 1b\n"
        "pop {r4-r11, lr}\n"
        : "+r"(from), "+r"(at), "+r"(rows), "+r"(left)
        :
        : "r12", "memory", "cc");
}
/* clang-format on */
#else
EDGEC_INLINE void edgec_depthwise_3x3_rows(const int8_t *x, edgec_pair_t *to,
                                           const edgec_depthwise_3x3_image_t *image,
                                           int32_t pairs) {
    for (; pairs > 0; pairs--, x += 2 * image->row, to += EDGEC_DEPTHWISE_3X3) {
        for (int32_t j = 0; j < image->inside; j++) {
            const int8_t *const from = x + j * image->channels;
            edgec_depthwise_3x3_put(edgec_word_at(from), edgec_word_at(from + image->row),
                                    to + j * image->column);
        }
    }
}
#endif

/* The same for the pair of rows `top` and `top` + 1, of which one or both are padding. */
EDGEC_SEPARATE void edgec_depthwise_3x3_border(const int8_t *x, edgec_pair_t *to,
                                               const edgec_depthwise_3x3_image_t *image,
                                               int32_t top) {
    const void *from[2];
    int32_t step[2];
    for (int32_t i = 0; i < 2; i++) {
        const int32_t y = top + i;
        const bool outside = y < 0 || y >= image->height;
        from[i] = outside ? (const void *)&image->padding : (const void *)(x + y * image->row);
        step[i] = outside ? 0 : image->channels;
    }
    const int8_t *a = (const int8_t *)from[0];
    const int8_t *b = (const int8_t *)from[1];
    /* Local: `to` may alias anything. */
    const int32_t column = image->column;
    const edgec_pair_t *const end = to + image->inside * column;
    for (; to != end; a += step[0], b += step[1], to += column) {
        edgec_depthwise_3x3_put(edgec_word_at(a), edgec_word_at(b), to);
    }
}

/* Pairs of rows to unpack: `taken` of them from row `top` on, of which those from `first` to `end`
 * are inside the image. */
typedef struct edgec_depthwise_3x3_strip {
    int32_t top;
    int32_t taken;
    int32_t first;
    int32_t end;
} edgec_depthwise_3x3_strip_t;

EDGEC_INLINE edgec_depthwise_3x3_strip_t edgec_depthwise_3x3_strip(int32_t top, int32_t taken,
                                                                   int32_t height) {
    const int32_t first = edgec_min_s32((edgec_max_s32(-top, 0) + 1) / 2, taken);
    const int32_t end = edgec_clamp_s32((height - top) / 2, first, taken);
    const edgec_depthwise_3x3_strip_t strip = {top, taken, first, end};
    return strip;
}

/* Unpacks the pairs of rows of a strip, in the columns inside the image; x is its first pixel, at
 * the first of the four channels. */
EDGEC_INLINE void edgec_depthwise_3x3_take(const int8_t *x, edgec_pair_t *planes,
                                           const edgec_depthwise_3x3_image_t *image,
                                           const edgec_depthwise_3x3_strip_t *strip) {
    edgec_pair_t *const to = planes + image->left * image->column;
    const int32_t inside = strip->end - strip->first;
    int32_t i = 0;
    while (i < strip->taken) {
        const int32_t row = strip->top + 2 * i;
        if (i == strip->first && inside > 0) {
            edgec_depthwise_3x3_rows(x + row * image->row, to + i * EDGEC_DEPTHWISE_3X3, image,
                                     inside);
            i += inside;
        } else {
            edgec_depthwise_3x3_border(x, to + i * EDGEC_DEPTHWISE_3X3, image, row);
            i++;
        }
    }
}

/* A column of weights: (w0, w1), and (w1, w2) or (w2, any). */
typedef struct edgec_taps3 {
    uint32_t first;
    uint32_t last;
} edgec_taps3_t;

EDGEC_INLINE edgec_taps3_t edgec_taps3(const int8_t *weights) {
    const uint32_t word = edgec_word_at(weights);
    const edgec_taps3_t taps = {edgec_sxtb16(word), edgec_sxtb16_high(word)};
    return taps;
}

/* `sum` plus a column of weights times the rows 0, 1, 2 of the words a and b. */
EDGEC_INLINE int32_t edgec_taps3_even(edgec_taps3_t taps, uint32_t a, uint32_t b, int32_t sum) {
    return edgec_high_low(taps.last, b, edgec_pair_dot(a, taps.first, sum));
}

/* The same for the rows 1, 2, 3. */
EDGEC_INLINE int32_t edgec_taps3_odd(edgec_taps3_t taps, uint32_t a, uint32_t b, int32_t sum) {
    return edgec_high_low(a, taps.first, edgec_pair_dot(b, taps.last, sum));
}

/* The rows 0, 1, 2 with weights of windows of stride 2. */
EDGEC_INLINE int32_t edgec_taps3_by_two(edgec_taps3_t taps, uint32_t a, uint32_t b, int32_t sum) {
    return edgec_low_low(taps.last, b, edgec_pair_dot(a, taps.first, sum));
}

#ifdef __cplusplus
}
#endif

#endif
