/* Activations of pooled layers for the loops of edgec/dense/dense_3x2_s8_dsp.h. */
#ifndef EDGEC_WEIGHT_POOL_ROWS_DSP_H
#define EDGEC_WEIGHT_POOL_ROWS_DSP_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_3x2_s8_dsp.h"
#include "edgec/weight_pool/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Four int8 codes rounded to multiples of 2^drop: t(q) - 128 = min(q + half, 127) without its last
 * bits, for 128 is such a multiple, too. */
EDGEC_INLINE uint32_t edgec_pool_rounded(uint32_t codes, int32_t drop) {
#if EDGEC_POOL_DSP
    if (drop == 0) {
        return codes;
    }
    uint32_t sum;
    __asm__("qadd8 %0, %1, %2" : "=r"(sum) : "r"(codes), "r"((EDGEC_POOL_BYTES << drop) >> 1));
    return sum & (((0xFFU << drop) & 0xFFU) * EDGEC_POOL_BYTES);
#else
    return edgec_pool_round(codes, drop) ^ (0x80U * EDGEC_POOL_BYTES);
#endif
}

/* edgec_widen3 of rounded activations. */
EDGEC_INLINE void edgec_pool_widen3(const int8_t *from, edgec_pair_t *to, int32_t words,
                                    int32_t drop) {
    uint32_t first;
    uint32_t second;
    for (; words >= 2; words -= 2) {
        memcpy(&first, from, sizeof first);
        memcpy(&second, from + 4, sizeof second);
        edgec_widen(edgec_pool_rounded(first, drop), to);
        edgec_widen(edgec_pool_rounded(second, drop), to + 2 * EDGEC_DENSE_3X2_ROWS);
        from += 8;
        to += 4 * EDGEC_DENSE_3X2_ROWS;
    }
    if (words > 0) {
        memcpy(&first, from, sizeof first);
        edgec_widen(edgec_pool_rounded(first, drop), to);
    }
}

#ifdef __cplusplus
}
#endif

#endif
