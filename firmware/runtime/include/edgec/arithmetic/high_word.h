/* Codes of int8 from sums by the high word of a product:
 *
 *     code = saturated((high(sum, multiplier) + offset) >> shift)
 *
 * Assembly compiles in `shift`, and `rounded`: whether the high word is rounded. */
#ifndef EDGEC_ARITHMETIC_HIGH_WORD_H
#define EDGEC_ARITHMETIC_HIGH_WORD_H

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* The sum in the register SUM by the multiplier in r2, and the offset in r3. */
#define EDGEC_HIGH_WORD(SUM)                                                                       \
    ".if %c[rounded]\n"                                                                            \
    "smmlar " SUM ", " SUM ", r2, r3\n"                                                            \
    ".else\n"                                                                                      \
    "smmla " SUM ", " SUM ", r2, r3\n"                                                             \
    ".endif\n"
/* The code of the result of EDGEC_HIGH_WORD. */
#define EDGEC_HIGH_CODE(SUM)                                                                       \
    ".if %c[shift]\n"                                                                              \
    "ssat " SUM ", #8, " SUM ", asr #%c[shift]\n"                                                  \
    ".else\n"                                                                                      \
    "ssat " SUM ", #8, " SUM "\n"                                                                  \
    ".endif\n"
/* clang-format on */
#else
EDGEC_INLINE int32_t edgec_high_shifted(int32_t sum, int32_t multiplier, int32_t offset,
                                        int32_t shift, int32_t rounded) {
    const int64_t product = (int64_t)sum * multiplier;
    const int64_t high = rounded > 0 ? edgec_rshr64(product, 32) : product >> 32;
    return (int32_t)((high + offset) >> shift);
}

EDGEC_INLINE int8_t edgec_high_code(int32_t sum, int32_t multiplier, int32_t offset, int32_t shift,
                                    int32_t rounded) {
    const int32_t code = edgec_high_shifted(sum, multiplier, offset, shift, rounded);
    return edgec_clamp_s8(code, INT8_MIN, INT8_MAX);
}
#endif

/* The offset that all channels share whose zero point is that of y: it rounds the shift. */
EDGEC_INLINE int32_t edgec_high_offset(int32_t y_zero_point, int32_t shift) {
    const int32_t step = (int32_t)1 << shift;
    return y_zero_point * step + step / 2;
}

#ifdef __cplusplus
}
#endif

#endif
