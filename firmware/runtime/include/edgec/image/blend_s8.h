/* Four pixels of int8 in shares of 2^22, as linear resizing has them. */
#ifndef EDGEC_IMAGE_BLEND_S8_H
#define EDGEC_IMAGE_BLEND_S8_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/tflite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fraction bits of a share. */
#define EDGEC_BLEND_BITS 22

/* Pixels and their shares, which are 2^22 in sum. */
typedef struct edgec_blend {
    const int8_t *pixels[4];
    int32_t shares[4];
} edgec_blend_t;

/* `channels` codes, rounded; `away`: halves away from zero, else up.  A function of its own: what
 * gcc makes of it does not hang on the layer. */
EDGEC_INLINE void edgec_blend_any(const edgec_blend_t *blend, int8_t *y, int32_t channels,
                                  int32_t away) {
    const int8_t *first = blend->pixels[0];
    const int8_t *second = blend->pixels[1];
    const int8_t *third = blend->pixels[2];
    const int8_t *fourth = blend->pixels[3];
    const edgec_blend_t own = *blend;
    const int8_t *const end = y + channels;
    while (y != end) {
        const int32_t codes[] = {*first++, *second++, *third++, *fourth++};
        const int32_t sum = own.shares[0] * codes[0] + own.shares[1] * codes[1] +
                            own.shares[2] * codes[2] + own.shares[3] * codes[3];
        *y++ = (int8_t)(away ? edgec_rshr_away(sum, EDGEC_BLEND_BITS)
                             : edgec_rshr32(sum, EDGEC_BLEND_BITS));
    }
}

EDGEC_SEPARATE void edgec_blend_up(const edgec_blend_t *blend, int8_t *y, int32_t channels) {
    edgec_blend_any(blend, y, channels, 0);
}

EDGEC_SEPARATE void edgec_blend_away(const edgec_blend_t *blend, int8_t *y, int32_t channels) {
    edgec_blend_any(blend, y, channels, 1);
}

#ifdef __cplusplus
}
#endif

#endif
