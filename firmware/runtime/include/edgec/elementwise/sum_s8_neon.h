/* TensorFlow Lite Micro's sum of int8 with NEON: edgec_add_twice of functions.h, four elements at a
 * time.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_SUM_S8_NEON_H
#define EDGEC_ELEMENTWISE_SUM_S8_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Eight codes less their zero point, in steps of 2^-5. */
EDGEC_INLINE int16x8_t edgec_neon_steps5(const int8_t *x, int8x8_t zero_point) {
    return vshlq_n_s16(vsubl_s8(vld1_s8(x), zero_point), 5);
}

/* The same halved: in steps of 2^-4. */
EDGEC_INLINE int16x8_t edgec_neon_steps4(const int8_t *x, int8x8_t zero_point) {
    return vshlq_n_s16(vsubl_s8(vld1_s8(x), zero_point), 4);
}

/* Four of them times a multiplier, in steps of 2^-20. */
EDGEC_INLINE int32x4_t edgec_neon_steps20(int16x4_t steps, int32_t multiplier) {
    return vqrdmulhq_n_s32(vshll_n_s16(steps, 15), multiplier);
}

/* rshr_away of four numbers, by a literal of 1 to 32. */
#define EDGEC_NEON_RSHR_AWAY(X, RIGHT) vrshrq_n_s32(vsraq_n_s32(X, X, 31), RIGHT)

#ifdef __cplusplus
}
#endif

#endif

#endif
