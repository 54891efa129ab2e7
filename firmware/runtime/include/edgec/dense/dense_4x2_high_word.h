/* Accumulator tile of four rows by two filters (dense_4x2_s8_dsp.h) whose sums are requantized in
 * registers by multipliers of 31 bits and a shift of 32 or more. */
#ifndef EDGEC_DENSE_DENSE_4X2_HIGH_WORD_H
#define EDGEC_DENSE_DENSE_4X2_HIGH_WORD_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_4x2_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Offset that is added to the high word of a product: the zero point, and for a shift above 32 the
 * half step of the remaining shift; shift in [32, 54].
 *
 *     (a * m + 2^(s-1) + z * 2^s) >> s = ((a * m >> 32) + 2^(s-33) + z * 2^(s-32)) >> (s-32) */
EDGEC_INLINE int32_t edgec_dense_4x2_offset(int32_t zero_point, int32_t shift) {
    const int32_t step = (int32_t)1 << (shift - 32);
    return zero_point * step + step / 2;
}

/* Defines NAME(filters, rows, out), which stores the outputs of a block of rows, saturated to int8.
 * SHIFT: of the product, in [32, 54].
 *
 * WORDS, UNROLLED, DUAL: as for EDGEC_DENSE_4X2.  ROW: bytes from a row to the next.  ODD: 1 where
 * the last pair is one filter and zeros, whose bias and multiplier are there, too.  OUT, APART: as
 * in dense_4x2_pair.h; the number of a filter is its multiplier.  TALL: rows of a block, 4 or 3. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* The high word of a product, plus the offset in r3; with a shift of 32 it is rounded. */
#define EDGEC_DENSE_4X2_HIGH_SUM(SUM, MULTIPLIER)                                                   \
    ".if %c[left]\n"                                                                               \
    "smmla " #SUM ", " #SUM ", " #MULTIPLIER ", r3\n"                                              \
    ".else\n"                                                                                      \
    "smmlar " #SUM ", " #SUM ", " #MULTIPLIER ", r3\n"                                             \
    ".endif\n"

/* The remaining shift, and saturation. */
#define EDGEC_DENSE_4X2_HIGH_CODE(SUM)                                                              \
    ".if %c[left]\n"                                                                               \
    "ssat " #SUM ", #8, " #SUM ", asr #%c[left]\n"                                                 \
    ".else\n"                                                                                      \
    "ssat " #SUM ", #8, " #SUM "\n"                                                                \
    ".endif\n"

/* Registers and stack are those of dense_4x2_pair.h. */
#define EDGEC_DENSE_4X2_HIGH(NAME, WORDS, UNROLLED, DUAL, SHIFT, ROW, ODD, OUT, APART, TALL)        \
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *rows,                      \
                             const edgec_dense_4x2_out_t *out) {                                    \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = rows;                                       \
        register const edgec_dense_4x2_out_t *o __asm__("r2") = out;                                \
        __asm__ volatile(                                                                          \
            EDGEC_DENSE_4X2_PAIR_SUMS                                                               \
            ".if %c[apart]\n"                                                                      \
            EDGEC_DENSE_4X2_PAIR_NUMBERS("r12, lr")                                                 \
            ".else\n"                                                                              \
            "ldr lr, [r0, #4]\n"                                                                   \
            "ldr r12, [r0], #8\n"                                                                  \
            ".endif\n"                                                                             \
            "ldr r3, [sp, #24]\n"                                                                  \
            EDGEC_DENSE_4X2_PAIR_Y                                                                  \
            EDGEC_DENSE_4X2_HIGH_SUM(r4, r12)                                                       \
            EDGEC_DENSE_4X2_HIGH_SUM(r5, lr)                                                        \
            EDGEC_DENSE_4X2_HIGH_SUM(r6, r12)                                                       \
            EDGEC_DENSE_4X2_HIGH_SUM(r7, lr)                                                        \
            EDGEC_DENSE_4X2_HIGH_SUM(r8, r12)                                                       \
            EDGEC_DENSE_4X2_HIGH_SUM(r9, lr)                                                        \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_HIGH_SUM(r10, r12))                              \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_HIGH_SUM(r11, lr))                               \
            EDGEC_DENSE_4X2_PAIR_PLACES                                                             \
            EDGEC_DENSE_4X2_HIGH_CODE(r4)                                                           \
            EDGEC_DENSE_4X2_HIGH_CODE(r5)                                                           \
            EDGEC_DENSE_4X2_HIGH_CODE(r6)                                                           \
            EDGEC_DENSE_4X2_HIGH_CODE(r7)                                                           \
            EDGEC_DENSE_4X2_HIGH_CODE(r8)                                                           \
            "bfi r4, r5, #8, #8\n"                                                                 \
            EDGEC_DENSE_4X2_HIGH_CODE(r9)                                                           \
            "bfi r6, r7, #8, #8\n"                                                                 \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_HIGH_CODE(r10))                                  \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_HIGH_CODE(r11))                                  \
            EDGEC_DENSE_4X2_PAIR_JOINED                                                             \
            EDGEC_DENSE_4X2_PAIR_BYTES                                                              \
            EDGEC_DENSE_4X2_PAIR_NEXT                                                               \
            : "+r"(w), "+r"(x), "+r"(o)                                                            \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [dual] "i"(DUAL), [flip] "i"(0),       \
              [second] "i"(4), [step] "i"(8), EDGEC_DENSE_4X2_PAIR_PLACED(ROW, APART, TALL),        \
              [left] "i"((SHIFT) - 32), [odd] "i"(ODD), [out] "i"(OUT)                             \
            : "r3", "r12", "memory", "cc");                                                        \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_4X2_HIGH(NAME, WORDS, UNROLLED, DUAL, SHIFT, ROW, ODD, OUT, APART, TALL)       \
    EDGEC_DENSE_4X2_PAIRS(NAME, ROW, ODD, 4, APART, TALL,                                          \
                          out->y[place + filter] = edgec_high_s8(                                  \
                              sum, edgec_dense_4x2_number(numbers, 0), out->own.offset, SHIFT);)

/* One output: sum, multiplier, offset and remaining shift to a code. */
EDGEC_INLINE int8_t edgec_high_s8(int32_t acc, int32_t multiplier, int32_t offset, int32_t shift) {
    const int32_t left = shift - 32;
    const int64_t product = (int64_t)acc * multiplier;
    const int64_t high = (left > 0) ? product >> 32 : edgec_rshr64(product, 32);
    return edgec_clamp_s8((int32_t)((high + offset) >> left), INT8_MIN, INT8_MAX);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
