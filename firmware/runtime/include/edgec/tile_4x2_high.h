/* Products of int8 as in tile_4x2.h, four rows by two filters, and their outputs: requantized by 31
 * bits, with a shift of 32, while the sums are in registers. */
#ifndef EDGEC_TILE_4X2_HIGH_H
#define EDGEC_TILE_4X2_HIGH_H

#include <stdint.h>

#include "edgec/math.h"
#include "edgec/tile_4x2_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where outputs come from and go to.  `places` are those of the rows 1 to 3 after row 0, in
 * bytes: in a last block that is not full, rows repeat the last one, in its place. */
typedef struct edgec_tile_4x2_high {
    const edgec_pair_t *rows_end;
    const int32_t *bias;
    const int32_t *multiplier;
    int8_t *y;
    int32_t places[EDGEC_TILE_4X2_ROWS - 1];
    const int8_t *weights_end;
    int32_t y_zero_point;
} edgec_tile_4x2_high_t;

/* Defines NAME(filters, rows, out): the outputs of four rows, for an even number of filters; bounds
 * are those of int8.
 *
 * WORDS, UNROLLED, DUAL: as for EDGEC_TILE_4X2. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Registers and stack are those of tile_4x2_pair.h. */
#define EDGEC_TILE_4X2_HIGH(NAME, WORDS, UNROLLED, DUAL)                                           \
    EDGEC_SEPARATE void NAME(const int8_t *filters, const edgec_pair_t *rows,                      \
                             edgec_tile_4x2_high_t *out) {                                         \
        register const int8_t *w __asm__("r0") = filters;                                          \
        register const edgec_pair_t *x __asm__("r1") = rows;                                       \
        register edgec_tile_4x2_high_t *o __asm__("r2") = out;                                     \
        __asm__ volatile(                                                                          \
            EDGEC_TILE_4X2_PAIR_SUMS                                                               \
            "ldr r2, [sp, #8]\n"                                                                   \
            "ldm r2!, {r12, lr}\n"                                                                 \
            "ldr r3, [sp, #32]\n"                                                                  \
            "str r2, [sp, #8]\n"                                                                   \
            "smmlar r4, r4, r12, r3\n"                                                             \
            "smmlar r5, r5, lr, r3\n"                                                              \
            "smmlar r6, r6, r12, r3\n"                                                             \
            "smmlar r7, r7, lr, r3\n"                                                              \
            "smmlar r8, r8, r12, r3\n"                                                             \
            "smmlar r9, r9, lr, r3\n"                                                              \
            "smmlar r10, r10, r12, r3\n"                                                           \
            "smmlar r11, r11, lr, r3\n"                                                            \
            EDGEC_TILE_4X2_PAIR_PLACES                                                             \
            "ssat r4, #8, r4\n"                                                                    \
            "ssat r5, #8, r5\n"                                                                    \
            "ssat r6, #8, r6\n"                                                                    \
            "ssat r7, #8, r7\n"                                                                    \
            "ssat r8, #8, r8\n"                                                                    \
            "bfi r4, r5, #8, #8\n"                                                                 \
            "ssat r9, #8, r9\n"                                                                    \
            "bfi r6, r7, #8, #8\n"                                                                 \
            "ssat r10, #8, r10\n"                                                                  \
            "ssat r11, #8, r11\n"                                                                  \
            "add r3, r3, r2\n"                                                                     \
            "bfi r8, r9, #8, #8\n"                                                                 \
            "add r12, r12, r2\n"                                                                   \
            "bfi r10, r11, #8, #8\n"                                                               \
            "add lr, lr, r2\n"                                                                     \
            EDGEC_TILE_4X2_PAIR_BYTES                                                              \
            EDGEC_TILE_4X2_PAIR_NEXT                                                               \
            : "+r"(w), "+r"(x), "+r"(o)                                                            \
            : [words] "i"(WORDS), [unrolled] "i"(UNROLLED), [dual] "i"(DUAL), [flip] "i"(0),       \
              [second] "i"(4), [step] "i"(8)                                                       \
            : "r3", "r12", "memory", "cc");                                                        \
    }
/* clang-format on */
#else
#define EDGEC_TILE_4X2_HIGH(NAME, WORDS, UNROLLED, DUAL)                                           \
    EDGEC_INLINE void NAME(const int8_t *filters, const edgec_pair_t *rows,                        \
                           const edgec_tile_4x2_high_t *out) {                                     \
        int32_t pair = 0;                                                                          \
        for (const int8_t *w = filters; w < out->weights_end; w += 8 * (WORDS), pair++) {          \
            for (int32_t j = 0; j < 2 * EDGEC_TILE_4X2_ROWS; j++) {                                \
                const int32_t sum = edgec_tile_4x2_dot(w + j % 2 * 4, 8, rows + 8 + j / 2, WORDS,  \
                                                       0U, (int32_t)rows[j]);                      \
                const int32_t place = (j < 2) ? 0 : out->places[j / 2 - 1];                        \
                const int32_t filter = 2 * pair + j % 2;                                           \
                out->y[place + filter] =                                                           \
                    edgec_requantize_s8(sum + out->bias[filter], out->multiplier[filter], 32,      \
                                        out->y_zero_point, INT8_MIN, INT8_MAX);                    \
            }                                                                                      \
        }                                                                                          \
    }
#endif

#ifdef __cplusplus
}
#endif

#endif
