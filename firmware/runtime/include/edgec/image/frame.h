/* Pixels of a camera's frame, as base/camera.py defines them. */
#ifndef EDGEC_IMAGE_FRAME_H
#define EDGEC_IMAGE_FRAME_H

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pixel of three channels, or sums of such ones below 2^16: the first channel in the upper half
 * of a word, the third in its lower half. */
typedef struct edgec_pixel {
    uint32_t outer;
    uint32_t middle;
} edgec_pixel_t;

/* The same with a word for each channel, for larger sums. */
typedef struct edgec_wide_pixel {
    uint32_t first;
    uint32_t second;
    uint32_t third;
} edgec_wide_pixel_t;

EDGEC_INLINE edgec_pixel_t edgec_pixel(uint32_t first, uint32_t second, uint32_t third) {
    return (edgec_pixel_t){first << 16 | third, second};
}

/* A pixel of 5, 6 and 5 bits: its highest bits are repeated below. */
EDGEC_INLINE edgec_pixel_t edgec_rgb565(uint32_t word) {
    const uint32_t outer = (word & 0xF800U) << 8 | (word & 31U) << 3;
    return (edgec_pixel_t){outer | ((outer >> 5) & 0x70007U),
                           ((word >> 3) & 0xFCU) | ((word >> 9) & 3U)};
}

EDGEC_INLINE edgec_wide_pixel_t edgec_wide_rgb565(uint32_t word) {
    return (edgec_wide_pixel_t){((word >> 11) << 3) | (word >> 13),
                                ((word >> 3) & 0xFCU) | ((word >> 9) & 3U),
                                ((word & 31U) << 3) | ((word >> 2) & 7U)};
}

/* Y, U and V of the pixel at p: two pixels of a frame are four bytes Y U Y V. */
EDGEC_INLINE edgec_pixel_t edgec_yuyv(const uint8_t *frame, const uint8_t *p) {
    const uint8_t *pair = p - ((size_t)(p - frame) & 2U);
    return edgec_pixel(p[0], pair[1], pair[3]);
}

/* The same of four bytes U Y V Y. */
EDGEC_INLINE edgec_pixel_t edgec_uyvy(const uint8_t *frame, const uint8_t *p) {
    const uint8_t *pair = p - ((size_t)(p - frame) & 2U);
    return edgec_pixel(p[1], pair[0], pair[2]);
}

EDGEC_INLINE edgec_wide_pixel_t edgec_wide_pixel(edgec_pixel_t p) {
    return (edgec_wide_pixel_t){p.outer >> 16, p.middle, p.outer & 0xFFFFU};
}

/* Gray of red, green and blue. */
EDGEC_INLINE uint32_t edgec_brightness(edgec_wide_pixel_t p) {
    return (19595U * p.first + 38470U * p.second + 7471U * p.third + 32768U) >> 16;
}

/* Red, green and blue of Y, U and V. */
EDGEC_INLINE edgec_wide_pixel_t edgec_rgb_of_yuv(edgec_wide_pixel_t p) {
    const int32_t y = (int32_t)(p.first << 16);
    const int32_t u = (int32_t)p.second - 128;
    const int32_t v = (int32_t)p.third - 128;
    const int32_t red = edgec_rshr32(y + 91881 * v, 16);
    const int32_t green = edgec_rshr32(y - 22554 * u - 46802 * v, 16);
    const int32_t blue = edgec_rshr32(y + 116130 * u, 16);
    return (edgec_wide_pixel_t){(uint32_t)edgec_clamp_s32(red, 0, 255),
                                (uint32_t)edgec_clamp_s32(green, 0, 255),
                                (uint32_t)edgec_clamp_s32(blue, 0, 255)};
}

/* Add a pixel some times: of one channel, of three with small sums, of three. */
EDGEC_INLINE void edgec_add_gray(uint32_t *sum, uint32_t p, uint32_t times) {
    *sum += p * times;
}

EDGEC_INLINE void edgec_add_pixel(edgec_pixel_t *sum, edgec_pixel_t p, uint32_t times) {
    sum->outer += p.outer * times;
    sum->middle += p.middle * times;
}

EDGEC_INLINE void edgec_add_wide_pixel(edgec_wide_pixel_t *sum, edgec_wide_pixel_t p,
                                       uint32_t times) {
    sum->first += p.first * times;
    sum->second += p.second * times;
    sum->third += p.third * times;
}

/* The mean of count numbers whose sum this is, rounded to the nearest, halves up.  Where factor is
 * not 0, a product with it and a shift are the quotient. */
EDGEC_INLINE uint32_t edgec_mean_gray(uint32_t sum, uint32_t count, uint32_t factor,
                                      uint32_t shift) {
    const uint32_t all = sum + count / 2U;
    return factor != 0U ? all * factor >> shift : all / count;
}

EDGEC_INLINE edgec_wide_pixel_t edgec_mean_wide_pixel(edgec_wide_pixel_t sum, uint32_t count,
                                                      uint32_t factor, uint32_t shift) {
    return (edgec_wide_pixel_t){edgec_mean_gray(sum.first, count, factor, shift),
                                edgec_mean_gray(sum.second, count, factor, shift),
                                edgec_mean_gray(sum.third, count, factor, shift)};
}

EDGEC_INLINE edgec_wide_pixel_t edgec_mean_pixel(edgec_pixel_t sum, uint32_t count, uint32_t factor,
                                                 uint32_t shift) {
    return edgec_mean_wide_pixel(edgec_wide_pixel(sum), count, factor, shift);
}

#ifdef __cplusplus
}
#endif

#endif
