/* Pixels of a camera's frame, as base/camera.py defines them. */
#ifndef EDGEC_IMAGE_FRAME_H
#define EDGEC_IMAGE_FRAME_H

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pixel of 8 bits a channel, or sums of such ones. */
typedef struct edgec_pixel {
    uint32_t red;
    uint32_t green;
    uint32_t blue;
} edgec_pixel_t;

/* A pixel of 5, 6 and 5 bits: its highest bits are repeated below. */
EDGEC_INLINE edgec_pixel_t edgec_rgb565(uint32_t word) {
    return (edgec_pixel_t){((word >> 11) << 3) | (word >> 13),
                           ((word >> 3) & 0xFCU) | ((word >> 9) & 3U),
                           ((word & 31U) << 3) | ((word >> 2) & 7U)};
}

/* Gray of a pixel's colours. */
EDGEC_INLINE uint32_t edgec_brightness(edgec_pixel_t p) {
    return (19595U * p.red + 38470U * p.green + 7471U * p.blue + 32768U) >> 16;
}

/* Add a pixel some times. */
EDGEC_INLINE void edgec_add_pixel(edgec_pixel_t *sum, edgec_pixel_t p, uint32_t times) {
    sum->red += p.red * times;
    sum->green += p.green * times;
    sum->blue += p.blue * times;
}

/* The mean of the pixels whose sum this is, each channel rounded to the nearest. */
EDGEC_INLINE edgec_pixel_t edgec_mean_pixel(edgec_pixel_t sum, uint32_t count) {
    return (edgec_pixel_t){(sum.red + count / 2U) / count, (sum.green + count / 2U) / count,
                           (sum.blue + count / 2U) / count};
}

#ifdef __cplusplus
}
#endif

#endif
