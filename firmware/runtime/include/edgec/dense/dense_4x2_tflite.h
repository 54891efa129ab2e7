/* Accumulator tile of four rows by two filters (dense_4x2_s8_dsp.h) whose sums are requantized in
 * registers with the rounding of TensorFlow Lite Micro: as edgec_requantize_offset_s8 and
 * edgec_requantize_twice_s8 of tflite.h do. */
#ifndef EDGEC_DENSE_DENSE_4X2_TFLITE_H
#define EDGEC_DENSE_DENSE_4X2_TFLITE_H

#include <stdint.h>

#include "edgec/arithmetic/tflite.h"
#include "edgec/dense/dense_4x2_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* EDGEC_DENSE_4X2_OFFSET and EDGEC_DENSE_4X2_TWICE define NAME(filters, rows, out), which stores
 * the outputs of a block of rows, saturated to int8.
 *
 * WORDS, UNROLLED, DUAL: as for EDGEC_DENSE_4X2.  SHIFT: of all filters, at least 1.  ROW: bytes
 * from a row to the next.  ODD: 1 where the last pair is one filter and zeros, whose numbers are
 * there, too.  OUT, APART: as in dense_4x2_pair.h; the numbers of a filter are its multiplier and
 * its offset, and in the form TwoRoundings31 its shift.  TALL: rows of a block, 4 or 3. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Registers and stack are those of dense_4x2_pair.h. */
#define EDGEC_DENSE_4X2_TFLITE(NAME, WORDS, UNROLLED, DUAL, SHIFT, ROW, ODD, OUT, APART, TALL, OUTPUTS)\
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *rows,                      \
                             const edgec_dense_4x2_out_t *out) {                                    \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = rows;                                       \
        register const edgec_dense_4x2_out_t *o __asm__("r2") = out;                                \
        __asm__ volatile(                                                                          \
            EDGEC_DENSE_4X2_PAIR_SUMS                                                               \
            OUTPUTS                                                                                \
            "bfi r4, r5, #8, #8\n"                                                                 \
            "bfi r6, r7, #8, #8\n"                                                                 \
            EDGEC_DENSE_4X2_PAIR_JOINED                                                             \
            EDGEC_DENSE_4X2_PAIR_BYTES                                                              \
            EDGEC_DENSE_4X2_PAIR_NEXT                                                               \
            : "+r"(w), "+r"(x), "+r"(o)                                                            \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [dual] "i"(DUAL), [flip] "i"(0),       \
              [second] "i"(4), [step] "i"(8), [shift] "i"(SHIFT), [odd] "i"(ODD), [out] "i"(OUT),  \
              EDGEC_DENSE_4X2_PAIR_PLACED(ROW, APART, TALL)                                         \
            : "r3", "r12", "memory", "cc");                                                        \
    }

/* All eight outputs; two multipliers and two offsets in r2, r3, r12 and lr. */
#define EDGEC_DENSE_4X2_OFFSET_OUTPUTS                                                              \
    EDGEC_DENSE_4X2_PAIR_NUMBERS("r2, r3, r12, lr")                                                 \
    "smmlar r4, r4, r2, r3\n"                                                                      \
    "smmlar r5, r5, r12, lr\n"                                                                     \
    "smmlar r6, r6, r2, r3\n"                                                                      \
    "smmlar r7, r7, r12, lr\n"                                                                     \
    "smmlar r8, r8, r2, r3\n"                                                                      \
    "smmlar r9, r9, r12, lr\n"                                                                     \
    EDGEC_DENSE_4X2_IF_FOUR("smmlar r10, r10, r2, r3\n"                                             \
                           "smmlar r11, r11, r12, lr\n")                                           \
    EDGEC_DENSE_4X2_PAIR_Y                                                                          \
    EDGEC_DENSE_4X2_PAIR_PLACES                                                                     \
    "ssat r4, #8, r4, asr %[shift]\n"                                                              \
    "ssat r5, #8, r5, asr %[shift]\n"                                                              \
    "ssat r6, #8, r6, asr %[shift]\n"                                                              \
    "ssat r7, #8, r7, asr %[shift]\n"                                                              \
    "ssat r8, #8, r8, asr %[shift]\n"                                                              \
    "ssat r9, #8, r9, asr %[shift]\n"                                                              \
    EDGEC_DENSE_4X2_IF_FOUR("ssat r10, #8, r10, asr %[shift]\n"                                     \
                           "ssat r11, #8, r11, asr %[shift]\n")
#define EDGEC_DENSE_4X2_OFFSET(NAME, WORDS, UNROLLED, DUAL, SHIFT, ROW, ODD, OUT, APART, TALL)      \
    EDGEC_DENSE_4X2_TFLITE(NAME, WORDS, UNROLLED, DUAL, SHIFT, ROW, ODD, OUT, APART, TALL,           \
                         EDGEC_DENSE_4X2_OFFSET_OUTPUTS)

/* One output; multiplier in r3, offset in r12, shift in lr.  For a negative sum the offset is less
 * by 1. */
#define EDGEC_DENSE_4X2_TWICE_OUTPUT(SUM)                                                           \
    "add r2, r12, " SUM ", asr #31\n"                                                              \
    "lsls " SUM ", " SUM ", #1\n"                                                                  \
    "smmlar " SUM ", " SUM ", r3, r2\n"                                                            \
    "asr " SUM ", " SUM ", lr\n"                                                                   \
    "ssat " SUM ", #8, " SUM "\n"
#define EDGEC_DENSE_4X2_TWICE_FILTER(A, B, C, D)                                                    \
    EDGEC_DENSE_4X2_PAIR_NUMBERS("r3, r12, lr")                                                     \
    EDGEC_DENSE_4X2_TWICE_OUTPUT(A)                                                                 \
    EDGEC_DENSE_4X2_TWICE_OUTPUT(B)                                                                 \
    EDGEC_DENSE_4X2_TWICE_OUTPUT(C)                                                                 \
    EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_TWICE_OUTPUT(D))
#define EDGEC_DENSE_4X2_TWICE_OUTPUTS                                                               \
    EDGEC_DENSE_4X2_TWICE_FILTER("r4", "r6", "r8", "r10")                                           \
    EDGEC_DENSE_4X2_TWICE_FILTER("r5", "r7", "r9", "r11")                                           \
    EDGEC_DENSE_4X2_PAIR_Y                                                                          \
    EDGEC_DENSE_4X2_PAIR_PLACES
#define EDGEC_DENSE_4X2_TWICE(NAME, WORDS, UNROLLED, DUAL, ROW, ODD, OUT, APART, TALL)              \
    EDGEC_DENSE_4X2_TFLITE(NAME, WORDS, UNROLLED, DUAL, 0, ROW, ODD, OUT, APART, TALL,               \
                         EDGEC_DENSE_4X2_TWICE_OUTPUTS)
/* clang-format on */
#else
#define EDGEC_DENSE_4X2_OFFSET(NAME, WORDS, UNROLLED, DUAL, SHIFT, ROW, ODD, OUT, APART, TALL)     \
    EDGEC_DENSE_4X2_PAIRS(NAME, ROW, ODD, 8, APART, TALL,                                          \
                          out->y[place + filter] = edgec_requantize_offset_s8(                     \
                              sum, edgec_dense_4x2_number(numbers, 0),                             \
                              edgec_dense_4x2_number(numbers, 1), SHIFT, INT8_MIN, INT8_MAX);)
#define EDGEC_DENSE_4X2_TWICE(NAME, WORDS, UNROLLED, DUAL, ROW, ODD, OUT, APART, TALL)             \
    EDGEC_DENSE_4X2_PAIRS(NAME, ROW, ODD, 12, APART, TALL,                                         \
                          out->y[place + filter] = edgec_requantize_twice_s8(                      \
                              sum, edgec_dense_4x2_number(numbers, 0),                             \
                              edgec_dense_4x2_number(numbers, 1),                                  \
                              edgec_dense_4x2_number(numbers, 2), INT8_MIN, INT8_MAX);)
#endif

#ifdef __cplusplus
}
#endif

#endif
