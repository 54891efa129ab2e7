/* Depthwise convolutions of 3x3 windows on the planes of planes.h: the sums of two rows by two
 * columns stay in registers until their codes are stored. */
#ifndef EDGEC_PLANES_TILE_H
#define EDGEC_PLANES_TILE_H

#include "edgec/math.h"
#include "edgec/planes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a function reads and writes; weights, numbers and planes are those of its first channel. */
typedef struct edgec_planes_tile {
    int32_t row_step;   /* bytes from a row of y to the next; 0: only the first of two is kept */
    int32_t pixel_step; /* bytes from a pixel of y to the next */
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *offset;
    int8_t *y;
    const edgec_pair_t *planes;
    const edgec_pair_t *end; /* where the windows of the blocks of two columns of row 0 end */
    int32_t pairs;           /* of rows of y */
    int32_t channels;
    int32_t odd; /* 1: one more column after the blocks of two, at least one of which there is */
} edgec_planes_tile_t;

/* Defines NAME(tile): codes of int8 of pairs of rows.
 *
 *     y = saturated((high(sum, multiplier) + offset) >> SHIFT)
 *
 * STRIDE: 1 or 2, of rows and of columns.  PAIRS: of rows in a column of the planes.  ROUNDED: 1
 * where the high word of the product is rounded.  NEXT: 4 where each channel has an offset, 0 where
 * they share one. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Registers: planes in r0, y in r1, words of a column in r2, r3 and r9, weights in r4 to r9, sums in
 * r10 and r11 for one column of outputs, in r12 and lr for the next.  The stack:
 *
 *     sp + 0     the bias, the multiplier and the offset of the channel
 *     sp + 12    the end of this row
 *     sp + 16    the beginning of its planes, and of its outputs
 *     sp + 24    pairs of rows that are left
 *     sp + 28    the struct; weights, numbers, y and planes go on from channel to channel */

/* Windows that go on by one: 24 products for 36 weights. */
#define EDGEC_PLANES_TWO_BY_ONE                                                                    \
    "ldr lr, [sp]\n"                                                                               \
    "ldr r3, [r0, #16]\n"                                                                          \
    "ldr r2, [r0], #%c[column]\n"                                                                  \
    "smlad r10, r2, r4, lr\n"                                                                      \
    "smlatb r11, r2, r4, lr\n"                                                                     \
    "smlatb r10, r5, r3, r10\n"                                                                    \
    "smlad r11, r3, r5, r11\n"                                                                     \
    "ldr r3, [r0, #16]\n"                                                                          \
    "ldr r2, [r0], #%c[column]\n"                                                                  \
    "smlad r10, r2, r6, r10\n"                                                                     \
    "smlatb r11, r2, r6, r11\n"                                                                    \
    "smlatb r10, r7, r3, r10\n"                                                                    \
    "smlad r11, r3, r7, r11\n"                                                                     \
    "smlad r12, r2, r4, lr\n"                                                                      \
    "smlatb lr, r2, r4, lr\n"                                                                      \
    "smlatb r12, r5, r3, r12\n"                                                                    \
    "smlad lr, r3, r5, lr\n"                                                                       \
    "ldr r2, [r0]\n"                                                                               \
    "ldr r3, [r0, #16]\n"                                                                          \
    "smlad r10, r2, r8, r10\n"                                                                     \
    "smlatb r11, r2, r8, r11\n"                                                                    \
    "smlatb r10, r9, r3, r10\n"                                                                    \
    "smlad r11, r3, r9, r11\n"                                                                     \
    "smlad r12, r2, r6, r12\n"                                                                     \
    "smlatb lr, r2, r6, lr\n"                                                                      \
    "smlatb r12, r7, r3, r12\n"                                                                    \
    "smlad lr, r3, r7, lr\n"                                                                       \
    "ldr r2, [r0, #%c[column]]\n"                                                                  \
    "ldr r3, [r0, #(%c[column] + 16)]\n"                                                           \
    "smlad r12, r2, r8, r12\n"                                                                     \
    "smlatb lr, r2, r8, lr\n"                                                                      \
    "smlatb r12, r9, r3, r12\n"                                                                    \
    "smlad lr, r3, r9, lr\n"
#define EDGEC_PLANES_LAST_BY_ONE                                                                   \
    "ldr lr, [sp]\n"                                                                               \
    "ldr r2, [r0]\n"                                                                               \
    "ldr r3, [r0, #16]\n"                                                                          \
    "smlad r10, r2, r4, lr\n"                                                                      \
    "smlatb r11, r2, r4, lr\n"                                                                     \
    "smlatb r10, r5, r3, r10\n"                                                                    \
    "smlad r11, r3, r5, r11\n"                                                                     \
    "ldr r2, [r0, #%c[column]]\n"                                                                  \
    "ldr r3, [r0, #(%c[column] + 16)]\n"                                                           \
    "smlad r10, r2, r6, r10\n"                                                                     \
    "smlatb r11, r2, r6, r11\n"                                                                    \
    "smlatb r10, r7, r3, r10\n"                                                                    \
    "smlad r11, r3, r7, r11\n"                                                                     \
    "ldr r2, [r0, #2 * %c[column]]\n"                                                              \
    "ldr r3, [r0, #(2 * %c[column] + 16)]\n"                                                       \
    "smlad r10, r2, r8, r10\n"                                                                     \
    "smlatb r11, r2, r8, r11\n"                                                                    \
    "smlatb r10, r9, r3, r10\n"                                                                    \
    "smlad r11, r3, r9, r11\n"

/* Windows that go on by two. */
#define EDGEC_PLANES_TWO_BY_TWO                                                                    \
    "ldr lr, [sp]\n"                                                                               \
    "ldr r3, [r0, #16]\n"                                                                          \
    "ldr r9, [r0, #32]\n"                                                                          \
    "ldr r2, [r0], #%c[column]\n"                                                                  \
    "smlad r10, r2, r4, lr\n"                                                                      \
    "smlad r11, r3, r4, lr\n"                                                                      \
    "smlabb r10, r3, r5, r10\n"                                                                    \
    "smlabb r11, r9, r5, r11\n"                                                                    \
    "ldr r3, [r0, #16]\n"                                                                          \
    "ldr r9, [r0, #32]\n"                                                                          \
    "ldr r2, [r0], #%c[column]\n"                                                                  \
    "smlad r10, r2, r6, r10\n"                                                                     \
    "smlad r11, r3, r6, r11\n"                                                                     \
    "smlabt r10, r3, r5, r10\n"                                                                    \
    "smlabt r11, r9, r5, r11\n"                                                                    \
    "ldr r3, [r0, #16]\n"                                                                          \
    "ldr r9, [r0, #32]\n"                                                                          \
    "ldr r2, [r0], #%c[column]\n"                                                                  \
    "smlad r10, r2, r7, r10\n"                                                                     \
    "smlad r11, r3, r7, r11\n"                                                                     \
    "smlabb r10, r3, r8, r10\n"                                                                    \
    "smlabb r11, r9, r8, r11\n"                                                                    \
    "smlad r12, r2, r4, lr\n"                                                                      \
    "smlad lr, r3, r4, lr\n"                                                                       \
    "smlabb r12, r3, r5, r12\n"                                                                    \
    "smlabb lr, r9, r5, lr\n"                                                                      \
    "ldr r3, [r0, #16]\n"                                                                          \
    "ldr r9, [r0, #32]\n"                                                                          \
    "ldr r2, [r0], #%c[column]\n"                                                                  \
    "smlad r12, r2, r6, r12\n"                                                                     \
    "smlad lr, r3, r6, lr\n"                                                                       \
    "smlabt r12, r3, r5, r12\n"                                                                    \
    "smlabt lr, r9, r5, lr\n"                                                                      \
    "ldr r2, [r0]\n"                                                                               \
    "ldr r3, [r0, #(16)]\n"                                                                        \
    "ldr r9, [r0, #(32)]\n"                                                                        \
    "smlad r12, r2, r7, r12\n"                                                                     \
    "smlad lr, r3, r7, lr\n"                                                                       \
    "smlabb r12, r3, r8, r12\n"                                                                    \
    "smlabb lr, r9, r8, lr\n"
#define EDGEC_PLANES_LAST_BY_TWO                                                                   \
    "ldr lr, [sp]\n"                                                                               \
    "ldr r2, [r0]\n"                                                                               \
    "ldr r3, [r0, #(16)]\n"                                                                        \
    "ldr r9, [r0, #(32)]\n"                                                                        \
    "smlad r10, r2, r4, lr\n"                                                                      \
    "smlad r11, r3, r4, lr\n"                                                                      \
    "smlabb r10, r3, r5, r10\n"                                                                    \
    "smlabb r11, r9, r5, r11\n"                                                                    \
    "ldr r2, [r0, #%c[column]]\n"                                                                  \
    "ldr r3, [r0, #(%c[column] + 16)]\n"                                                           \
    "ldr r9, [r0, #(%c[column] + 32)]\n"                                                           \
    "smlad r10, r2, r6, r10\n"                                                                     \
    "smlad r11, r3, r6, r11\n"                                                                     \
    "smlabt r10, r3, r5, r10\n"                                                                    \
    "smlabt r11, r9, r5, r11\n"                                                                    \
    "ldr r2, [r0, #2 * %c[column]]\n"                                                              \
    "ldr r3, [r0, #(2 * %c[column] + 16)]\n"                                                       \
    "ldr r9, [r0, #(2 * %c[column] + 32)]\n"                                                       \
    "smlad r10, r2, r7, r10\n"                                                                     \
    "smlad r11, r3, r7, r11\n"                                                                     \
    "smlabb r10, r3, r8, r10\n"                                                                    \
    "smlabb r11, r9, r8, r11\n"

/* The code of a sum by the multiplier in r2 and the offset in r3. */
#define EDGEC_PLANES_HIGH(SUM)                                                                     \
    ".if %c[rounded]\n"                                                                            \
    "smmlar " #SUM ", " #SUM ", r2, r3\n"                                                          \
    ".else\n"                                                                                      \
    "smmla " #SUM ", " #SUM ", r2, r3\n"                                                           \
    ".endif\n"
#define EDGEC_PLANES_CODE(SUM)                                                                     \
    ".if %c[shift]\n"                                                                              \
    "ssat " #SUM ", #8, " #SUM ", asr #%c[shift]\n"                                                \
    ".else\n"                                                                                      \
    "ssat " #SUM ", #8, " #SUM "\n"                                                                \
    ".endif\n"

#define EDGEC_PLANES_TILE(NAME, STRIDE, PAIRS, SHIFT, ROUNDED, NEXT)                               \
    EDGEC_SEPARATE void NAME(const edgec_planes_tile_t *tile) {                                    \
        register const edgec_planes_tile_t *t __asm__("r0") = tile;                                \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "sub sp, sp, #76\n"                                                                    \
            "ldm r0, {r1-r12}\n"                                                                   \
            "add r0, sp, #28\n"                                                                    \
            "stm r0, {r1-r12}\n"                                                                   \
            "1:\n"                                                                                 \
            "ldr r0, [sp, #36]\n"                                                                  \
            ".if %c[stride] - 1\n"                                                                 \
            "ldm r0!, {r4, r6, r7}\n"                                                              \
            "sxtb16 r5, r4, ror #8\n"                                                              \
            "sxtb16 r4, r4\n"                                                                      \
            "sxtb16 r6, r6\n"                                                                      \
            "sxtb16 r8, r7, ror #8\n"                                                              \
            "sxtb16 r7, r7\n"                                                                      \
            ".else\n"                                                                              \
            "ldm r0!, {r4, r6, r8}\n"                                                              \
            "sxtb16 r5, r4, ror #8\n"                                                              \
            "sxtb16 r4, r4\n"                                                                      \
            "sxtb16 r7, r6, ror #8\n"                                                              \
            "sxtb16 r6, r6\n"                                                                      \
            "sxtb16 r9, r8, ror #8\n"                                                              \
            "sxtb16 r8, r8\n"                                                                      \
            ".endif\n"                                                                             \
            "str r0, [sp, #36]\n"                                                                  \
            "add r3, sp, #40\n"                                                                    \
            "ldm r3, {r0, r1, r2}\n"                                                               \
            "ldr r10, [r0], #4\n"                                                                  \
            "ldr r11, [r1], #4\n"                                                                  \
            "ldr r12, [r2], #%c[next]\n"                                                           \
            "stm r3!, {r0, r1, r2}\n"                                                              \
            "stm sp, {r10, r11, r12}\n"                                                            \
            "ldm r3, {r1, r2, r10, r11}\n"                                                         \
            "mov r0, r2\n"                                                                         \
            "add r2, r1, #1\n"                                                                     \
            "add r12, r0, #4\n"                                                                    \
            "add lr, r10, #4\n"                                                                    \
            "stm r3, {r2, r12, lr}\n"                                                              \
            "str r10, [sp, #12]\n"                                                                 \
            "str r11, [sp, #24]\n"                                                                 \
            "2:\n"                                                                                 \
            "strd r0, r1, [sp, #16]\n"                                                             \
            "3:\n"                                                                                 \
            ".if %c[stride] - 1\n"                                                                 \
            EDGEC_PLANES_TWO_BY_TWO                                                                \
            ".else\n"                                                                              \
            EDGEC_PLANES_TWO_BY_ONE                                                                \
            ".endif\n"                                                                             \
            "ldrd r2, r3, [sp, #4]\n"                                                              \
            EDGEC_PLANES_HIGH(r11)                                                                 \
            EDGEC_PLANES_HIGH(r10)                                                                 \
            EDGEC_PLANES_HIGH(lr)                                                                  \
            EDGEC_PLANES_HIGH(r12)                                                                 \
            EDGEC_PLANES_CODE(r11)                                                                 \
            EDGEC_PLANES_CODE(r10)                                                                 \
            EDGEC_PLANES_CODE(lr)                                                                  \
            EDGEC_PLANES_CODE(r12)                                                                 \
            "ldrd r2, r3, [sp, #28]\n"                                                             \
            "strb r11, [r1, r2]\n"                                                                 \
            "strb r10, [r1]\n"                                                                     \
            "add r1, r1, r3\n"                                                                     \
            "ldr r10, [sp, #12]\n"                                                                 \
            "strb lr, [r1, r2]\n"                                                                  \
            "strb r12, [r1]\n"                                                                     \
            "cmp r0, r10\n"                                                                        \
            "add r1, r1, r3\n"                                                                     \
            "bne 3b\n"                                                                             \
            "ldr r2, [sp, #72]\n"                                                                  \
            "cmp r2, #0\n"                                                                         \
            "beq 4f\n"                                                                             \
            ".if %c[stride] - 1\n"                                                                 \
            EDGEC_PLANES_LAST_BY_TWO                                                               \
            ".else\n"                                                                              \
            EDGEC_PLANES_LAST_BY_ONE                                                               \
            ".endif\n"                                                                             \
            "ldrd r2, r3, [sp, #4]\n"                                                              \
            EDGEC_PLANES_HIGH(r11)                                                                 \
            EDGEC_PLANES_HIGH(r10)                                                                 \
            EDGEC_PLANES_CODE(r11)                                                                 \
            EDGEC_PLANES_CODE(r10)                                                                 \
            "ldr r2, [sp, #28]\n"                                                                  \
            "strb r11, [r1, r2]\n"                                                                 \
            "strb r10, [r1]\n"                                                                     \
            "4:\n"                                                                                 \
            "ldr r2, [sp, #28]\n"                                                                  \
            "ldrd r0, r1, [sp, #16]\n"                                                             \
            "ldr r10, [sp, #12]\n"                                                                 \
            "ldr r3, [sp, #24]\n"                                                                  \
            "add r0, r0, #(16 * %c[stride])\n"                                                     \
            "add r10, r10, #(16 * %c[stride])\n"                                                   \
            "add r1, r1, r2, lsl #1\n"                                                             \
            "str r10, [sp, #12]\n"                                                                 \
            "subs r3, r3, #1\n"                                                                    \
            "str r3, [sp, #24]\n"                                                                  \
            "bne 2b\n"                                                                             \
            "ldr r3, [sp, #68]\n"                                                                  \
            "subs r3, r3, #1\n"                                                                    \
            "str r3, [sp, #68]\n"                                                                  \
            "bne 1b\n"                                                                             \
            "add sp, sp, #76\n"                                                                    \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(t)                                                                              \
            : [stride] "i"(STRIDE), [column] "i"(16 * (PAIRS)), [shift] "i"(SHIFT),                \
              [rounded] "i"(ROUNDED), [next] "i"(NEXT)                                             \
            : "r1", "r2", "r3", "r12", "memory", "cc");                                            \
    }
/* clang-format on */
#else
#define EDGEC_PLANES_TILE(NAME, STRIDE, PAIRS, SHIFT, ROUNDED, NEXT)                               \
    EDGEC_INLINE void NAME(const edgec_planes_tile_t *tile) {                                      \
        const int32_t column = EDGEC_PLANES * (PAIRS);                                             \
        for (int32_t c = 0; c < tile->channels; c++) {                                             \
            for (int32_t row = 0; row < 2 * tile->pairs; row += tile->row_step > 0 ? 1 : 2) {      \
                edgec_planes_tile_row(tile, c, row, STRIDE, column, SHIFT, ROUNDED, NEXT);         \
            }                                                                                      \
        }                                                                                          \
    }

/* A row of codes of a channel. */
EDGEC_INLINE void edgec_planes_tile_row(const edgec_planes_tile_t *tile, int32_t channel,
                                        int32_t row, int32_t stride, int32_t column, int32_t shift,
                                        int32_t rounded, int32_t next) {
    const int32_t from = (stride == 2) ? row : row / 2;
    const int32_t count =
        2 * (int32_t)((tile->end - tile->planes) / (2 * stride * column)) + tile->odd;
    const int32_t offset = tile->offset[channel * next / 4];
    for (int32_t x = 0; x < count; x++) {
        const edgec_pair_t *const at =
            tile->planes + x * stride * column + from * EDGEC_PLANES + channel;
        int32_t sum = tile->bias[channel];
        for (int32_t kx = 0; kx < 3; kx++) {
            const edgec_taps3_t taps = edgec_taps3(tile->weights + (channel * 3 + kx) * 4);
            const uint32_t a = at[kx * column];
            const uint32_t b = at[kx * column + EDGEC_PLANES];
            sum = (stride == 2) ? edgec_taps3_by_two(taps, a, b, sum)
                  : (row % 2)   ? edgec_taps3_odd(taps, a, b, sum)
                                : edgec_taps3_even(taps, a, b, sum);
        }
        const int64_t product = (int64_t)sum * tile->multiplier[channel];
        const int64_t high = rounded ? edgec_rshr64(product, 32) : product >> 32;
        const int32_t code = (int32_t)((high + offset) >> shift);
        tile->y[row * tile->row_step + x * tile->pixel_step + channel] =
            edgec_clamp_s8(code, INT8_MIN, INT8_MAX);
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
