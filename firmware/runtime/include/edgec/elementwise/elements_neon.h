/* Elements of memory with NEON, eight at a time.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_ELEMENTS_NEON_H
#define EDGEC_ELEMENTWISE_ELEMENTS_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/rescale16.h"

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

/* Eight codes, those of int8 within their bounds. */
EDGEC_INLINE void edgec_neon_store8_s8(int8_t *y, int16x8_t codes) {
    vst1_s8(y, vmovn_s16(codes));
}

EDGEC_INLINE void edgec_neon_store8_s16(edgec_s16_t *y, int16x8_t codes) {
    vst1q_s16(y, codes);
}

#ifdef __cplusplus
}
#endif

#endif

#endif
