/* Activations of pooled layers for the loops of edgec/dsp.h. */
#ifndef EDGEC_POOL_DSP_H
#define EDGEC_POOL_DSP_H

#include <stdint.h>
#include <string.h>

#include "edgec/dsp.h"
#include "edgec/math.h"
#include "edgec/pool_lanes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Four int8 codes rounded to multiples of 2^drop: t(q) - 128. */
EDGEC_INLINE uint32_t edgec_pool_rounded(uint32_t codes, int32_t drop) {
    return edgec_pool_round(codes, drop) ^ (0x80U * EDGEC_POOL_BYTES);
}

/* edgec_widen3 of rounded activations. */
EDGEC_INLINE void edgec_pool_widen3(const int8_t *from, edgec_pair_t *to, int32_t quads,
                                    int32_t drop) {
    for (int32_t quad = 0; quad < quads; quad++) {
        uint32_t word;
        memcpy(&word, from + quad * 4, sizeof word);
        word = edgec_pool_rounded(word, drop);
        to[0] = edgec_sxtb16(word);
        to[1] = edgec_sxtb16((word >> 8) | (word << 24));
        to += 2 * EDGEC_DSP_PIXELS;
    }
}

#ifdef __cplusplus
}
#endif

#endif
