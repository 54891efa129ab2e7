/* Functions of dense_4x2_high_word.h that layers share: the words of a filter and the remaining
 * shift are arguments instead of constants. */
#ifndef EDGEC_DENSE_DENSE_4X2_SHARED_H
#define EDGEC_DENSE_DENSE_4X2_SHARED_H

#include "edgec/dense/dense_4x2_high_word.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defines NAME(filters, rows, out), which stores the outputs of a block of rows, saturated to int8.
 * `out.left` is the shift of the product less 32.
 *
 * DUAL: as for EDGEC_DENSE_4X2.  ROUNDED: 1 where the remaining shift is 0, so that the high word
 * of the product is rounded.  ODD, TALL: as for EDGEC_DENSE_4X2_HIGH. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A turn of the loop takes four words.  The first turn, of the remainder, is entered that many
 * words later; the address of its entry is at sp + 32. */
#define EDGEC_DENSE_4X2_SHARED_ENTER                                                                \
    EDGEC_DENSE_4X2_PAIR_ENTER                                                                      \
    "sub r3, r1, r3\n"                                                                             \
    "ubfx r3, r3, #5, #2\n"                                                                        \
    "adr r4, 20f\n"                                                                                \
    "ldrb r3, [r4, r3]\n"                                                                          \
    "add r3, r4, r3, lsl #1\n"                                                                     \
    "add r3, r3, #1\n"                                                                             \
    "str r3, [sp, #32]\n"
#define EDGEC_DENSE_4X2_SHARED_LOOP                                                                 \
    EDGEC_DENSE_4X2_FIRST_ROWS                                                                      \
    "ldr pc, [sp, #32]\n"                                                                          \
    ".p2align 2\n"                                                                                 \
    "20:\n"                                                                                        \
    ".byte (21f - 20b) / 2, (22f - 20b) / 2, (23f - 20b) / 2, (24f - 20b) / 2\n"                   \
    "21:\n"                                                                                        \
    EDGEC_DENSE_4X2_ONE_WORD                                                                        \
    "22:\n"                                                                                        \
    EDGEC_DENSE_4X2_ONE_WORD                                                                        \
    "23:\n"                                                                                        \
    EDGEC_DENSE_4X2_ONE_WORD                                                                        \
    "24:\n"                                                                                        \
    EDGEC_DENSE_4X2_ONE_WORD                                                                        \
    EDGEC_DENSE_4X2_AT_END                                                                          \
    "bne 21b\n"

#define EDGEC_DENSE_4X2_SHARED_SUM(SUM, MULTIPLIER)                                                 \
    ".if %c[rounded]\n"                                                                            \
    "smmlar " #SUM ", " #SUM ", " #MULTIPLIER ", r3\n"                                             \
    ".else\n"                                                                                      \
    "smmla " #SUM ", " #SUM ", " #MULTIPLIER ", r3\n"                                              \
    ".endif\n"

/* Shifts a sum by the remaining shift, in r3. */
#define EDGEC_DENSE_4X2_SHARED_SHIFT(SUM)                                                           \
    ".ifeq %c[rounded]\n"                                                                          \
    "asr " #SUM ", " #SUM ", r3\n"                                                                 \
    ".endif\n"
#define EDGEC_DENSE_4X2_SHARED_CODE(SUM) "ssat " #SUM ", #8, " #SUM "\n"

/* Registers and stack are those of dense_4x2_pair.h. */
#define EDGEC_DENSE_4X2_SHARED(NAME, DUAL, ROUNDED, ODD, TALL)                                      \
    EDGEC_IN_LINES void NAME(const int8_t *filters, const edgec_pair_t *rows,                      \
                             const edgec_dense_4x2_out_t *out) {                                    \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = rows;                                       \
        register const edgec_dense_4x2_out_t *o __asm__("r2") = out;                                \
        __asm__ volatile(                                                                          \
            EDGEC_DENSE_4X2_SHARED_ENTER                                                            \
            EDGEC_DENSE_4X2_PAIR_STARTS                                                             \
            EDGEC_DENSE_4X2_SHARED_LOOP                                                             \
            "ldr lr, [r0, #4]\n"                                                                   \
            "ldr r12, [r0], #8\n"                                                                  \
            "ldr r3, [sp, #24]\n"                                                                  \
            EDGEC_DENSE_4X2_PAIR_Y                                                                  \
            EDGEC_DENSE_4X2_SHARED_SUM(r4, r12)                                                     \
            EDGEC_DENSE_4X2_SHARED_SUM(r5, lr)                                                      \
            EDGEC_DENSE_4X2_SHARED_SUM(r6, r12)                                                     \
            EDGEC_DENSE_4X2_SHARED_SUM(r7, lr)                                                      \
            EDGEC_DENSE_4X2_SHARED_SUM(r8, r12)                                                     \
            EDGEC_DENSE_4X2_SHARED_SUM(r9, lr)                                                      \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_SHARED_SUM(r10, r12))                            \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_SHARED_SUM(r11, lr))                             \
            ".ifeq %c[rounded]\n"                                                                  \
            "ldr r3, [sp, #28]\n"                                                                  \
            ".endif\n"                                                                             \
            EDGEC_DENSE_4X2_IF_FOUR("ldr r12, [sp, #12]\n")                                         \
            "ldr lr, [sp, #16]\n"                                                                  \
            EDGEC_DENSE_4X2_SHARED_SHIFT(r4)                                                        \
            EDGEC_DENSE_4X2_SHARED_SHIFT(r5)                                                        \
            EDGEC_DENSE_4X2_SHARED_SHIFT(r6)                                                        \
            EDGEC_DENSE_4X2_SHARED_SHIFT(r7)                                                        \
            EDGEC_DENSE_4X2_SHARED_SHIFT(r8)                                                        \
            EDGEC_DENSE_4X2_SHARED_SHIFT(r9)                                                        \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_SHARED_SHIFT(r10))                               \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_SHARED_SHIFT(r11))                               \
            "ldr r3, [sp, #8]\n"                                                                   \
            EDGEC_DENSE_4X2_SHARED_CODE(r4)                                                         \
            EDGEC_DENSE_4X2_SHARED_CODE(r5)                                                         \
            EDGEC_DENSE_4X2_SHARED_CODE(r6)                                                         \
            EDGEC_DENSE_4X2_SHARED_CODE(r7)                                                         \
            EDGEC_DENSE_4X2_SHARED_CODE(r8)                                                         \
            "bfi r4, r5, #8, #8\n"                                                                 \
            EDGEC_DENSE_4X2_SHARED_CODE(r9)                                                         \
            "bfi r6, r7, #8, #8\n"                                                                 \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_SHARED_CODE(r10))                                \
            EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_SHARED_CODE(r11))                                \
            EDGEC_DENSE_4X2_PAIR_JOINED                                                             \
            EDGEC_DENSE_4X2_PAIR_BYTES                                                              \
            EDGEC_DENSE_4X2_PAIR_NEXT                                                               \
            : "+r"(w), "+r"(x), "+r"(o)                                                            \
            : [dual] "i"(DUAL), [flip] "i"(0), [second] "i"(4), [step] "i"(8), [row] "i"(4),       \
              [word] "i"(32), [start] "i"(8), [apart] "i"(0), [frame] "i"(40),                     \
              [rounded] "i"(ROUNDED), [odd] "i"(ODD), [out] "i"(0), [four] "i"((TALL) - 3)         \
            : "r3", "r12", "memory", "cc");                                                        \
    }
/* clang-format on */
#else
#define EDGEC_DENSE_4X2_SHARED(NAME, DUAL, ROUNDED, ODD, TALL)                                     \
    EDGEC_DENSE_4X2_PAIRS(NAME, EDGEC_DENSE_4X2_INTERLEAVED, ODD, 4, 0, TALL,                      \
                          out->y[place + filter] =                                                 \
                              edgec_high_s8(sum, edgec_dense_4x2_number(numbers, 0),               \
                                            out->own.offset, 32 + out->left);)
#endif

#ifdef __cplusplus
}
#endif

#endif
