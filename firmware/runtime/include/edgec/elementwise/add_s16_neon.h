/* Sums of int16 with NEON.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_ADD_S16_NEON_H
#define EDGEC_ELEMENTWISE_ADD_S16_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y[0..7] = sat16(a[0..7] + b[0..7]). */
EDGEC_INLINE void edgec_neon_add8_s16(const edgec_s16_t *a, const edgec_s16_t *b, edgec_s16_t *y) {
    vst1q_s16(y, vqaddq_s16(vld1q_s16(a), vld1q_s16(b)));
}

#ifdef __cplusplus
}
#endif

#endif

#endif
