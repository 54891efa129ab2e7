/* Codes and lanes: what all builders of responses share (edgec/weight_pool/responses.h).
 *
 * Words hold four 8-bit or two 16-bit numbers, the first one in the low bits, on every computer.
 */
#ifndef EDGEC_WEIGHT_POOL_WORDS_H
#define EDGEC_WEIGHT_POOL_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
#define EDGEC_POOL_DSP 1
#else
#define EDGEC_POOL_DSP 0
#endif

#if defined(__GNUC__) && defined(__thumb2__)
#define EDGEC_POOL_THUMB2 1
#else
#define EDGEC_POOL_THUMB2 0
#endif

#define EDGEC_POOL_LANES 0x00010001U /* one in each 16-bit lane */
#define EDGEC_POOL_BYTES 0x01010101U /* one in each byte */

/* ---- Codes of a group ---- */

/* Four codes as a word. */
EDGEC_INLINE uint32_t edgec_pool_word(const int8_t *codes) {
    return (uint32_t)(uint8_t)codes[0] | (uint32_t)(uint8_t)codes[1] << 8 |
           (uint32_t)(uint8_t)codes[2] << 16 | (uint32_t)(uint8_t)codes[3] << 24;
}

/* Codes of a group of `size` channels, of which the pixel holds `count` (or all: count >= size);
 * the others, and all of a pixel of padding, are `zero_point`. */
EDGEC_INLINE void edgec_pool_codes(uint32_t *words, int32_t size, const int8_t *pixel,
                                   int32_t count, int32_t zero_point) {
    const uint32_t zero = (uint32_t)(uint8_t)zero_point * EDGEC_POOL_BYTES;
    for (int32_t i = 0; i < size / 4; i++) {
        words[i] = zero;
    }
    if (pixel == NULL) {
        return;
    }
    if (count >= size) {
        for (int32_t i = 0; i < size / 4; i++) {
            words[i] = edgec_pool_word(pixel + 4 * i);
        }
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = 8 * (i % 4);
        words[i / 4] &= ~(0xFFU << at);
        words[i / 4] |= (uint32_t)(uint8_t)pixel[i] << at;
    }
}

/* t(q) of four codes: rounded to multiples of 2^drop, drop = 8 - bits. */
EDGEC_INLINE uint32_t edgec_pool_round(uint32_t codes, int32_t drop) {
    const uint32_t unsigned_codes = codes ^ (0x80U * EDGEC_POOL_BYTES);
    if (drop == 0) {
        return unsigned_codes;
    }
    const uint32_t half = (EDGEC_POOL_BYTES << drop) >> 1;
    const uint32_t kept = ((0xFFU << drop) & 0xFFU) * EDGEC_POOL_BYTES;
#if EDGEC_POOL_DSP
    uint32_t sum;
    __asm__("uqadd8 %0, %1, %2" : "=r"(sum) : "r"(unsigned_codes), "r"(half));
    return sum & kept;
#else
    /* Bits 0..6 of each byte first, so that no carry leaves it; then bit 7, and its carry. */
    const uint32_t high = unsigned_codes & (0x80U * EDGEC_POOL_BYTES);
    const uint32_t sum = (unsigned_codes ^ high) + half;
    const uint32_t over = (sum & high) >> 7;
    return ((sum ^ high) | over * 0xFFU) & kept;
#endif
}

/* t(zero_point), rounded alike: what every code is taken relative to. */
EDGEC_INLINE uint32_t edgec_pool_zero(int32_t zero_point, int32_t drop) {
    return edgec_pool_round((uint32_t)(uint8_t)zero_point, drop) & 0xFFU;
}

/* ---- Weights ---- */

/* Four weights each plus one of four others, modulo 256. */
EDGEC_INLINE uint32_t edgec_pool_sum_of_weights(uint32_t weights, uint32_t others) {
#if EDGEC_POOL_DSP
    uint32_t sum;
    __asm__("uadd8 %0, %1, %2" : "=r"(sum) : "r"(weights), "r"(others) : "cc");
    return sum;
#else
    /* Bits 0..6 of each byte first, so that no carry leaves it. */
    const uint32_t high = 0x80U * EDGEC_POOL_BYTES;
    return ((weights & ~high) + (others & ~high)) ^ ((weights ^ others) & high);
#endif
}

/* Add a term of a vector to the sum of its other terms: the sum of all terms fits int8, and what
 * wraps around before the last one comes back.  Words only where they may be at any address. */
EDGEC_INLINE void edgec_pool_add_weights(int8_t *sums, const int8_t *term, int32_t count) {
    int32_t i = 0;
#if EDGEC_POOL_THUMB2
    for (; i <= count - 4; i += 4) {
        uint32_t four;
        uint32_t others;
        memcpy(&four, sums + i, sizeof four);
        memcpy(&others, term + i, sizeof others);
        four = edgec_pool_sum_of_weights(four, others);
        memcpy(sums + i, &four, sizeof four);
    }
#endif
    for (; i < count; i++) {
        sums[i] = (int8_t)(uint8_t)(sums[i] + term[i]);
    }
}

/* ---- Lanes ---- */

/* Bias of the responses in a table word, k the response shift: lanes are unsigned. */
#define EDGEC_POOL_WORD_BIAS(k) ((0x8000U >> (k)) * EDGEC_POOL_LANES)

/* From sums to table words: every lane is its sum + start, shifted to the right and to the left. */
typedef struct edgec_pool_scale {
    int32_t right;
    int32_t left;
    uint32_t start;
} edgec_pool_scale_t;

/* Up to this shift to the right, half a unit is part of start: a lane still holds every sum. */
#define EDGEC_POOL_HALF_SHIFT 7

/* Half a unit of a sum that is shifted to the right. */
EDGEC_INLINE uint32_t edgec_pool_half(int32_t right) {
    return (right <= EDGEC_POOL_HALF_SHIFT) ? (1U << right) >> 1 : 0;
}

/* Of sums of products. */
EDGEC_INLINE edgec_pool_scale_t edgec_pool_products_scale(int32_t shift) {
    const uint32_t start = edgec_pool_half(shift) + 0x8000U;
    return (edgec_pool_scale_t){.right = shift, .left = 0, .start = start * EDGEC_POOL_LANES};
}

/* Of sums of planes: they are in units of 2^drop, and 128 * (2^(8 - drop) - 1) too large, because
 * each plane's entries are 128 too large; with start 128 * 2^(8 - drop), the bias. */
EDGEC_INLINE edgec_pool_scale_t edgec_pool_planes_scale(int32_t shift, int32_t drop) {
    const int32_t right = (shift > drop) ? shift - drop : 0;
    const int32_t left = (drop > shift) ? drop - shift : 0;
    const uint32_t start = edgec_pool_half(right) + 0x80U;
    return (edgec_pool_scale_t){.right = right, .left = left, .start = start * EDGEC_POOL_LANES};
}

/* Unsigned lanes, rounded and shifted to the right. */
EDGEC_INLINE uint32_t edgec_pool_shifted(uint32_t lanes, edgec_pool_scale_t scale) {
    if (scale.right == 0) {
        return lanes;
    }
    if (scale.right <= EDGEC_POOL_HALF_SHIFT) {
        return (lanes >> scale.right) & ((0xFFFFU >> scale.right) * EDGEC_POOL_LANES);
    }
    const int32_t most = scale.right - 1;
    const uint32_t twice = (lanes >> most) & ((0xFFFFU >> most) * EDGEC_POOL_LANES);
    return ((twice + EDGEC_POOL_LANES) >> 1) & (0x7FFFU * EDGEC_POOL_LANES);
}

/* The table word of the low lanes of two pixels. */
EDGEC_INLINE uint32_t edgec_pool_join_low(uint32_t a, uint32_t b, edgec_pool_scale_t scale) {
    return ((a & 0xFFFFU) | b << 16) << scale.left;
}

/* That of the high lanes. */
EDGEC_INLINE uint32_t edgec_pool_join_high(uint32_t a, uint32_t b, edgec_pool_scale_t scale) {
    return (a >> 16 | (b & 0xFFFF0000U)) << scale.left;
}

/* The table word of a lane and a pixel of padding in lane 1 (at 0) or 0 (at 16). */
EDGEC_INLINE uint32_t edgec_pool_lone(uint32_t lane, int32_t at, uint32_t bias,
                                      edgec_pool_scale_t scale) {
    return (lane & 0xFFFFU) << (at + scale.left) | (bias & ~(0xFFFFU << at));
}

/* A lane of a single pixel as int32: exact, with a shift of 0. */
EDGEC_INLINE uint32_t edgec_pool_single(uint32_t lane, edgec_pool_scale_t scale) {
    return ((lane & 0xFFFFU) << scale.left) - 0x8000U;
}

/* ---- Stores ---- */

#if EDGEC_POOL_THUMB2

#define EDGEC_POOL_TEXT(token) #token

/* clang-format off */

/* Store a register at the address in another, which moves on by %[step] bytes. */
#define EDGEC_POOL_STORE(value, address)                                                           \
    ".if %c[step] < 256\n"                                                                         \
    "str " value ", [" address "], %[step]\n"                                                      \
    ".else\n"                                                                                      \
    "str " value ", [" address "]\n"                                                               \
    "addw " address ", " address ", #(%c[step] & 4095)\n"                                          \
    ".if %c[step] >> 12\n"                                                                         \
    "add " address ", " address ", #(%c[step] & ~4095)\n"                                          \
    ".endif\n"                                                                                     \
    ".endif\n"

/* Store four registers that way. */
#define EDGEC_POOL_STORE4(first, second, third, fourth, address)                                   \
    ".if %c[step] <= 1364\n"                                                                       \
    "str " first ", [" address "]\n"                                                               \
    "str " second ", [" address ", %[step]]\n"                                                     \
    "str " third ", [" address ", #(2 * %c[step])]\n"                                              \
    "str " fourth ", [" address ", #(3 * %c[step])]\n"                                             \
    "addw " address ", " address ", #(4 * %c[step] & 4095)\n"                                      \
    ".if 4 * %c[step] >> 12\n"                                                                     \
    "add " address ", " address ", #(4 * %c[step] & ~4095)\n"                                      \
    ".endif\n"                                                                                     \
    ".else\n" EDGEC_POOL_STORE(first, address) EDGEC_POOL_STORE(second, address)                   \
        EDGEC_POOL_STORE(third, address) EDGEC_POOL_STORE(fourth, address) ".endif\n"

/* clang-format on */

#endif

#ifdef __cplusplus
}
#endif

#endif
