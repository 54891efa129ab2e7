/* Responses of weight pools with NEON: activations of channels side by side, sums of positions. */
#ifndef EDGEC_WEIGHT_POOL_RESPONSES_NEON_H
#define EDGEC_WEIGHT_POOL_RESPONSES_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_4x4_s8_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The responses at a place of the table, in one address for all of their vectors: a compiler would
 * compute one for the first of them, and another for the others. */
EDGEC_INLINE const int16_t *edgec_pool_neon_place(const int16_t *table, uint32_t place) {
    const int16_t *at = table + place;
#if defined(__GNUC__)
    __asm__("" : "+r"(at));
#endif
    return at;
}

/* Here loads stop to move forward: a compiler that takes those of all entries first has not the
 * registers for them. */
EDGEC_INLINE void edgec_pool_neon_pause(void) {
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory");
#endif
}

typedef struct edgec_pool_neon_line {
    int16_t responses[16];
} edgec_pool_neon_line_t;

/* Sixteen responses, and the place after them. */
EDGEC_INLINE int16x8x2_t edgec_pool_neon_two(const int16_t **from) {
    int16x8x2_t two;
#if defined(__GNUC__) && !defined(__clang__) && defined(__arm__)
    const int16_t *at = *from;
    __asm__("vld1.16 %h0, [%1]!" : "=w"(two), "+r"(at) : "m"(*(const edgec_pool_neon_line_t *)at));
    *from = at;
#else
    two.val[0] = vld1q_s16(*from);
    two.val[1] = vld1q_s16(*from + 8);
    *from += 16;
#endif
    return two;
}

/* A width of activations: edgec_pool_neon_width makes it. */
typedef struct edgec_pool_neon_width {
    uint8x8_t half;
    uint8x8_t kept;
    uint8x8_t zero;
    int8_t zero_point;
    int8_t center;
    int16x8_t right;
    int16x8_t padding;
} edgec_pool_neon_width_t;

/* A code rounded to its upper bits, in 0 to 255: t of edgec/ir/qops/pooled.py. */
EDGEC_INLINE int32_t edgec_pool_neon_rounded_code(int32_t code, int32_t drop) {
    const int32_t half = (1 << drop) >> 1;
    return edgec_min_s32(code + 128 + half, 255) & ~((1 << drop) - 1);
}

/* The width that drops the low `drop` bits of a code.  Activations are in steps of 2^right, no
 * more than those, from the code `center` on, which is a rounded one. */
EDGEC_INLINE edgec_pool_neon_width_t edgec_pool_neon_width(int32_t zero_point, int32_t center,
                                                           int32_t drop, int32_t right) {
    const int32_t half = (1 << drop) >> 1;
    const int32_t kept = 0xFF & ~((1 << drop) - 1);
    const int32_t padding = edgec_pool_neon_rounded_code(zero_point, drop) - (center + 128);
    const edgec_pool_neon_width_t width = {
        vdup_n_u8((uint8_t)half),
        vdup_n_u8((uint8_t)kept),
        vdup_n_u8((uint8_t)(center + 128)),
        (int8_t)zero_point,
        (int8_t)center,
        vdupq_n_s16((int16_t)-right),
        vshlq_s16(vdupq_n_s16((int16_t)padding), vdupq_n_s16((int16_t)-right)),
    };
    return width;
}

/* Padding: `count` activations of each of eight channels, a multiple of eight; those of channels
 * after the first `channels` are zero. */
EDGEC_INLINE void edgec_pool_neon_pad(int16_t *to, int32_t count, int32_t channels,
                                      const edgec_pool_neon_width_t *width) {
    for (int32_t i = 0; i < 8; i++) {
        const int16x8_t value = (i < channels) ? width->padding : vdupq_n_s16(0);
        for (int32_t n = 0; n < count; n += 8) {
            vst1q_s16(to, value);
            to += 8;
        }
    }
}

/* `count` indices of `bits` bits, 1 to 10, times `step`, eight at a time: list[0] up to the next
 * multiple of eight.  Sixteen bytes of indices are read at a time. */
EDGEC_INLINE void edgec_pool_neon_list(const uint8_t *indices, int32_t bits, int32_t step,
                                       int32_t count, uint16_t *list) {
    uint8_t at[16];
    int16_t right[8];
    for (int32_t i = 0; i < 8; i++) {
        at[2 * i] = (uint8_t)(i * bits / 8);
        at[2 * i + 1] = (uint8_t)(i * bits / 8 + 1);
        right[i] = (int16_t)(-(i * bits % 8));
    }
    const int16x8_t shift = vld1q_s16(right);
    const uint16x8_t mask = vdupq_n_u16((uint16_t)((1 << bits) - 1));
#if defined(__aarch64__)
    const uint8x16_t places = vld1q_u8(at);
#else
    const uint8x8_t low = vld1_u8(at);
    const uint8x8_t high = vld1_u8(at + 8);
#endif
    for (int32_t n = 0; n < count; n += 8) {
#if defined(__aarch64__)
        const uint8x16_t pairs = vqtbl1q_u8(vld1q_u8(indices), places);
#else
        const uint8x8x2_t bytes = {{vld1_u8(indices), vld1_u8(indices + 8)}};
        const uint8x16_t pairs = vcombine_u8(vtbl2_u8(bytes, low), vtbl2_u8(bytes, high));
#endif
        const uint16x8_t found = vandq_u16(vshlq_u16(vreinterpretq_u16_u8(pairs), shift), mask);
        vst1q_u16(list + n, vmulq_n_u16(found, (uint16_t)step));
        indices += bits;
    }
}

/* Add `places` to the lists of all filters, each of `entries` entries; no sum is beyond 16 bits. */
EDGEC_INLINE void edgec_pool_neon_add_places(uint16_t *list, const uint16_t *places,
                                             int32_t entries, int32_t filters) {
    for (int32_t o = 0; o < filters; o++) {
        int32_t n = 0;
        for (; n <= entries - 8; n += 8) {
            vst1q_u16(list + n, vaddq_u16(vld1q_u16(list + n), vld1q_u16(places + n)));
        }
        if (n <= entries - 4) {
            vst1_u16(list + n, vadd_u16(vld1_u16(list + n), vld1_u16(places + n)));
            n += 4;
        }
        for (int32_t rest = entries % 4; rest > 0; rest--) {
            list[n] = (uint16_t)(list[n] + places[n]);
            n++;
        }
        list += entries;
    }
}

/* Rounded codes in steps, without the center. */
EDGEC_INLINE int16x8_t edgec_pool_neon_rounded(int8x8_t codes, const edgec_pool_neon_width_t *w) {
    const uint8x8_t raised = veor_u8(vreinterpret_u8_s8(codes), vdup_n_u8(0x80));
    const uint8x8_t rounded = vand_u8(vqadd_u8(raised, w->half), w->kept);
    return vshlq_s16(vreinterpretq_s16_u16(vsubl_u8(rounded, w->zero)), w->right);
}

/* Eight codes of a pixel, or of padding if there is none; the center for those after the first
 * `channels`. */
EDGEC_INLINE int8x8_t edgec_pool_neon_codes(const int8_t *x, int32_t channels,
                                            const edgec_pool_neon_width_t *width) {
    int8_t codes[8];
    for (int32_t i = 0; i < 8; i++) {
        const int32_t code = (x == NULL) ? width->zero_point : (i < channels) ? x[i] : 0;
        codes[i] = (int8_t)((i < channels) ? code : width->center);
    }
    return vld1_s8(codes);
}

/* Activations of eight channels and eight pixels, `step` bytes apart: those of a channel side by
 * side, those of the next one `pitch` further on; rounded if it `rounds`.  Padding for pixels after
 * the first `pixels`, zeros for channels after the first `channels`. */
EDGEC_INLINE void edgec_pool_neon_spread(const int8_t *x, int32_t step, int32_t pixels,
                                         int32_t channels, const edgec_pool_neon_width_t *width,
                                         int32_t rounds, int16_t *to, int32_t pitch) {
    int8x8_t row[8];
    if (pixels >= 8 && channels >= 8) {
        for (int32_t i = 0; i < 8; i++) {
            row[i] = vld1_s8(x + i * step);
        }
    } else if (channels >= 8) {
        for (int32_t i = 0; i < 8; i++) {
            row[i] = (i < pixels) ? vld1_s8(x + i * step) : vdup_n_s8(width->zero_point);
        }
    } else {
        for (int32_t i = 0; i < 8; i++) {
            row[i] = edgec_pool_neon_codes((i < pixels) ? x + i * step : NULL, channels, width);
        }
    }
    int8x8_t channel[8];
    for (int32_t half = 0; half < 2; half++) {
        const int8x8x2_t a = vtrn_s8(row[4 * half], row[4 * half + 1]);
        const int8x8x2_t b = vtrn_s8(row[4 * half + 2], row[4 * half + 3]);
        for (int32_t i = 0; i < 2; i++) {
            const int16x4x2_t four =
                vtrn_s16(vreinterpret_s16_s8(a.val[i]), vreinterpret_s16_s8(b.val[i]));
            row[4 * half + i] = vreinterpret_s8_s16(four.val[0]);
            row[4 * half + i + 2] = vreinterpret_s8_s16(four.val[1]);
        }
    }
    for (int32_t i = 0; i < 4; i++) {
        const int32x2x2_t eight =
            vtrn_s32(vreinterpret_s32_s8(row[i]), vreinterpret_s32_s8(row[4 + i]));
        channel[i] = vreinterpret_s8_s32(eight.val[0]);
        channel[i + 4] = vreinterpret_s8_s32(eight.val[1]);
    }
    for (int32_t i = 0; i < 8; i++) {
        vst1q_s16(to + i * pitch, rounds ? edgec_pool_neon_rounded(channel[i], width)
                                         : vsubl_s8(channel[i], vdup_n_s8(width->center)));
    }
}

/* Sums of four filters, `step` apart, at four positions, by positions; those after the first
 * `count` repeat the last of these.  They are shifted to the left by `left`. */
EDGEC_INLINE edgec_neon_tile_t edgec_pool_neon_tile(const int32_t *sums, int32_t step,
                                                    int32_t count, int32_t left) {
    const int32x4x2_t a = vtrnq_s32(vld1q_s32(sums), vld1q_s32(sums + step));
    const int32x4x2_t b = vtrnq_s32(vld1q_s32(sums + 2 * step), vld1q_s32(sums + 3 * step));
    const int32x4_t rows[4] = {
        vcombine_s32(vget_low_s32(a.val[0]), vget_low_s32(b.val[0])),
        vcombine_s32(vget_low_s32(a.val[1]), vget_low_s32(b.val[1])),
        vcombine_s32(vget_high_s32(a.val[0]), vget_high_s32(b.val[0])),
        vcombine_s32(vget_high_s32(a.val[1]), vget_high_s32(b.val[1])),
    };
    edgec_neon_tile_t tile;
    for (int32_t t = 0; t < 4; t++) {
        const int32x4_t row = rows[edgec_min_s32(t, count - 1)];
        tile.row[t] = (left == 0) ? row : vshlq_s32(row, vdupq_n_s32(left));
    }
    return tile;
}

#ifdef __cplusplus
}
#endif

#endif
#endif
