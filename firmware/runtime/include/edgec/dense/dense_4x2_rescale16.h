/* Accumulator tile of four rows by two filters (dense_4x2_s8_dsp.h) whose sums are requantized in
 * registers by products of 16 by 15 bits. */
#ifndef EDGEC_DENSE_DENSE_4X2_RESCALE16_H
#define EDGEC_DENSE_DENSE_4X2_RESCALE16_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/rescale16.h"
#include "edgec/dense/dense_4x2_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kind of output of a requantized sum: int8; int8 from a table; int16; int16 after an addition. */
#define EDGEC_DENSE_4X2_OUT_BYTE 0
#define EDGEC_DENSE_4X2_OUT_TABLE 1
#define EDGEC_DENSE_4X2_OUT_WIDE 2
#define EDGEC_DENSE_4X2_OUT_ADDED 3

/* Defines NAME(filters, rows, out), which stores the outputs of four rows for an even number of
 * filters.
 *
 * WORDS, UNROLLED, DUAL: as for EDGEC_DENSE_4X2.  PRE_SHIFT, SHIFT: of the requantization.  BITS:
 * to which its result is limited; 0 before an addition.  LIFTED: -127 takes the place of -128, only
 * of EDGEC_DENSE_4X2_OUT_BYTE.  KIND: one of the above.  ROW: bytes from a row to the next.
 * APART: as in dense_4x2_pair.h; the number of a filter is its multiplier, of 16 bits. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A sum after the first shift, in 16 bits. */
#define EDGEC_DENSE_4X2_CUT(SUM)                                                                    \
    ".if %c[pre]\n"                                                                                \
    "ssat " #SUM ", #16, " #SUM ", asr #%c[pre]\n"                                                 \
    ".else\n"                                                                                      \
    "ssat " #SUM ", #16, " #SUM "\n"                                                               \
    ".endif\n"

/* Registers and stack are those of dense_4x2_pair.h.  Where two instructions of one sum follow each
 * other, those of others stand between, for cores that issue two at a time. */
#define EDGEC_DENSE_4X2_OUT(NAME, WORDS, UNROLLED, DUAL, PRE_SHIFT, SHIFT, BITS, LIFTED, KIND, ROW, \
                           APART)                                                                  \
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *rows,                      \
                             const edgec_dense_4x2_out_t *out) {                                    \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = rows;                                       \
        register const edgec_dense_4x2_out_t *o __asm__("r2") = out;                                \
        __asm__ volatile(                                                                          \
            EDGEC_DENSE_4X2_PAIR_SUMS                                                               \
            "mov lr, %[half]\n"                                                                    \
            ".if %c[apart]\n"                                                                      \
            "ldr r1, [sp, #36]\n"                                                                  \
            "ldr r12, [r1], #4\n"                                                                  \
            "str r1, [sp, #36]\n"                                                                  \
            ".else\n"                                                                              \
            "ldr r12, [r0], #4\n"                                                                  \
            ".endif\n"                                                                             \
            EDGEC_DENSE_4X2_CUT(r4)                                                                 \
            EDGEC_DENSE_4X2_CUT(r5)                                                                 \
            EDGEC_DENSE_4X2_CUT(r6)                                                                 \
            "smlabb r4, r4, r12, lr\n"                                                             \
            EDGEC_DENSE_4X2_CUT(r7)                                                                 \
            "smlabt r5, r5, r12, lr\n"                                                             \
            EDGEC_DENSE_4X2_CUT(r8)                                                                 \
            "smlabb r6, r6, r12, lr\n"                                                             \
            EDGEC_DENSE_4X2_CUT(r9)                                                                 \
            "smlabt r7, r7, r12, lr\n"                                                             \
            EDGEC_DENSE_4X2_CUT(r10)                                                                \
            "smlabb r8, r8, r12, lr\n"                                                             \
            EDGEC_DENSE_4X2_CUT(r11)                                                                \
            "smlabt r9, r9, r12, lr\n"                                                             \
            ".if %c[bits]\n"                                                                       \
            "ssat r4, #%c[bits], r4, asr #%c[shift]\n"                                             \
            "smlabb r10, r10, r12, lr\n"                                                           \
            "ssat r5, #%c[bits], r5, asr #%c[shift]\n"                                             \
            "smlabt r11, r11, r12, lr\n"                                                           \
            "ssat r6, #%c[bits], r6, asr #%c[shift]\n"                                             \
            "ssat r7, #%c[bits], r7, asr #%c[shift]\n"                                             \
            "ssat r8, #%c[bits], r8, asr #%c[shift]\n"                                             \
            "ssat r9, #%c[bits], r9, asr #%c[shift]\n"                                             \
            "ssat r10, #%c[bits], r10, asr #%c[shift]\n"                                           \
            "ssat r11, #%c[bits], r11, asr #%c[shift]\n"                                           \
            ".else\n"                                                                              \
            "smlabb r10, r10, r12, lr\n"                                                           \
            "smlabt r11, r11, r12, lr\n"                                                           \
            "asr r4, r4, #%c[shift]\n"                                                             \
            "asr r5, r5, #%c[shift]\n"                                                             \
            "asr r6, r6, #%c[shift]\n"                                                             \
            "asr r7, r7, #%c[shift]\n"                                                             \
            "asr r8, r8, #%c[shift]\n"                                                             \
            "asr r9, r9, #%c[shift]\n"                                                             \
            "asr r10, r10, #%c[shift]\n"                                                           \
            "asr r11, r11, #%c[shift]\n"                                                           \
            ".endif\n"                                                                             \
            ".if %c[kind] == 1\n"                                                                  \
            "ldr r2, [sp, #24]\n"                                                                  \
            "ldrb r4, [r2, r4]\n"                                                                  \
            "ldrb r5, [r2, r5]\n"                                                                  \
            "ldrb r6, [r2, r6]\n"                                                                  \
            "ldrb r7, [r2, r7]\n"                                                                  \
            "ldrb r8, [r2, r8]\n"                                                                  \
            "ldrb r9, [r2, r9]\n"                                                                  \
            "ldrb r10, [r2, r10]\n"                                                                \
            "ldrb r11, [r2, r11]\n"                                                                \
            ".endif\n"                                                                             \
            ".if %c[kind] == 3\n"                                                                  \
            "ldr r2, [sp, #24]\n"                                                                  \
            "ldr r3, [sp, #8]\n"                                                                   \
            "ldr r12, [sp, #12]\n"                                                                 \
            "ldr lr, [sp, #16]\n"                                                                  \
            "pkhbt r4, r4, r5, lsl #16\n"                                                          \
            "pkhbt r6, r6, r7, lsl #16\n"                                                          \
            "pkhbt r8, r8, r9, lsl #16\n"                                                          \
            "pkhbt r10, r10, r11, lsl #16\n"                                                       \
            "ldr r5, [r2]\n"                                                                       \
            "ldr r7, [r2, r3]\n"                                                                   \
            "ldr r9, [r2, r12]\n"                                                                  \
            "ldr r11, [r2, lr]\n"                                                                  \
            "add r2, r2, #4\n"                                                                     \
            "str r2, [sp, #24]\n"                                                                  \
            EDGEC_DENSE_4X2_PAIR_Y                                                                  \
            "qadd16 r4, r4, r5\n"                                                                  \
            "add r3, r3, r2\n"                                                                     \
            "qadd16 r6, r6, r7\n"                                                                  \
            "add r12, r12, r2\n"                                                                   \
            "qadd16 r8, r8, r9\n"                                                                  \
            "add lr, lr, r2\n"                                                                     \
            "qadd16 r10, r10, r11\n"                                                               \
            ".else\n"                                                                              \
            EDGEC_DENSE_4X2_PAIR_Y                                                                  \
            EDGEC_DENSE_4X2_PAIR_PLACES                                                             \
            ".if %c[kind] == 2\n"                                                                  \
            "pkhbt r4, r4, r5, lsl #16\n"                                                          \
            "add r3, r3, r2\n"                                                                     \
            "pkhbt r6, r6, r7, lsl #16\n"                                                          \
            "add r12, r12, r2\n"                                                                   \
            "pkhbt r8, r8, r9, lsl #16\n"                                                          \
            "add lr, lr, r2\n"                                                                     \
            "pkhbt r10, r10, r11, lsl #16\n"                                                       \
            ".else\n"                                                                              \
            "bfi r4, r5, #8, #8\n"                                                                 \
            "add r3, r3, r2\n"                                                                     \
            "bfi r6, r7, #8, #8\n"                                                                 \
            "add r12, r12, r2\n"                                                                   \
            "bfi r8, r9, #8, #8\n"                                                                 \
            "add lr, lr, r2\n"                                                                     \
            "bfi r10, r11, #8, #8\n"                                                               \
            ".endif\n"                                                                             \
            ".endif\n"                                                                             \
            ".if %c[lifted]\n"                                                                     \
            "mov r5, #0x01010101\n"                                                                \
            "qsub8 r4, r4, r5\n"                                                                   \
            "qsub8 r6, r6, r5\n"                                                                   \
            "sadd8 r4, r4, r5\n"                                                                   \
            "qsub8 r8, r8, r5\n"                                                                   \
            "strh r4, [r2], #2\n"                                                                  \
            "sadd8 r6, r6, r5\n"                                                                   \
            "qsub8 r10, r10, r5\n"                                                                 \
            "strh r6, [r3]\n"                                                                      \
            "sadd8 r8, r8, r5\n"                                                                   \
            "sadd8 r10, r10, r5\n"                                                                 \
            "strh r8, [r12]\n"                                                                     \
            "strh r10, [lr]\n"                                                                     \
            ".elseif %c[kind] < 2\n"                                                               \
            EDGEC_DENSE_4X2_PAIR_BYTES                                                              \
            ".else\n"                                                                              \
            "str r4, [r2], #4\n"                                                                   \
            "str r6, [r3]\n"                                                                       \
            "str r8, [r12]\n"                                                                      \
            "str r10, [lr]\n"                                                                      \
            ".endif\n"                                                                             \
            EDGEC_DENSE_4X2_PAIR_NEXT                                                               \
            : "+r"(w), "+r"(x), "+r"(o)                                                            \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [dual] "i"(DUAL), [flip] "i"(0),       \
              [second] "i"(4), [step] "i"(8), [pre] "i"(PRE_SHIFT), [shift] "i"(SHIFT),            \
              [half] "i"(1 << ((SHIFT) - 1)), [bits] "i"(BITS), [lifted] "i"(LIFTED),              \
              [kind] "i"(KIND), [odd] "i"(0), [out] "i"(0),                                        \
              EDGEC_DENSE_4X2_PAIR_PLACED(ROW, APART, 4)                                            \
            : "r3", "r12", "memory", "cc");                                                        \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_4X2_OUT(NAME, WORDS, UNROLLED, DUAL, PRE_SHIFT, SHIFT, BITS, LIFTED, KIND,     \
                            ROW, APART)                                                            \
    EDGEC_DENSE_4X2_PAIRS(                                                                         \
        NAME, ROW, 0, 2, APART, 4,                                                                 \
        const int32_t scaled = edgec_rescale(sum, edgec_short_at(numbers), PRE_SHIFT, SHIFT);      \
        edgec_dense_4x2_put(out, place, filter, edgec_saturated(scaled, BITS), LIFTED, KIND);)

/* A multiplier. */
EDGEC_INLINE int32_t edgec_short_at(const int8_t *numbers) {
    int16_t value;
    memcpy(&value, numbers, sizeof value);
    return value;
}

/* Stores the output of a filter for the row at `place`. */
EDGEC_INLINE void edgec_dense_4x2_put(const edgec_dense_4x2_out_t *out, int32_t place,
                                      int32_t column, int32_t scaled, int32_t lifted,
                                      int32_t kind) {
    if (kind < EDGEC_DENSE_4X2_OUT_WIDE) {
        const int32_t limited = lifted ? edgec_max_s32(scaled, -INT8_MAX) : scaled;
        const int8_t byte =
            (int8_t)((kind == EDGEC_DENSE_4X2_OUT_TABLE) ? out->own.from[scaled] : limited);
        out->y[place + column] = byte;
        return;
    }
    int16_t value = (int16_t)0;
    if (kind == EDGEC_DENSE_4X2_OUT_ADDED) {
        memcpy(&value, out->own.from + place + 2 * column, sizeof value);
    }
    value = (int16_t)edgec_sat16(scaled + value);
    memcpy(out->y + place + 2 * column, &value, sizeof value);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
