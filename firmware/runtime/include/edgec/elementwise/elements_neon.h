/* Elements of memory with NEON, eight at a time.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_ELEMENTS_NEON_H
#define EDGEC_ELEMENTWISE_ELEMENTS_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Eight codes as int16. */
EDGEC_INLINE int16x8_t edgec_neon_load8_s8(const int8_t *x) {
    return vmovl_s8(vld1_s8(x));
}

EDGEC_INLINE int16x8_t edgec_neon_load8_s16(const edgec_s16_t *x) {
    return vld1q_s16(x);
}

/* y[0..7] = sat16(a[0..7] + b[0..7]). */
EDGEC_INLINE void edgec_neon_add8_s16(const edgec_s16_t *a, const edgec_s16_t *b, edgec_s16_t *y) {
    vst1q_s16(y, vqaddq_s16(vld1q_s16(a), vld1q_s16(b)));
}

#ifdef __cplusplus
}
#endif

#endif

#endif
