/* Depthwise convolutions of 3x3 windows on the planes of unpacked_s8_dsp.h, with an accumulator
 * tile of two rows by two columns of one channel, requantized in registers. */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_3X3_S8_DSP_H
#define EDGEC_DEPTHWISE_DEPTHWISE_3X3_S8_DSP_H

#include "edgec/arithmetic/high_word.h"
#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"
#include "edgec/depthwise/unpacked_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operands of a function; weights, numbers and planes are those of its first channel. */
typedef struct edgec_depthwise_3x3_tile {
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
} edgec_depthwise_3x3_tile_t;

/* Defines NAME(tile), which stores int8 outputs of pairs of rows.
 *
 *     y = saturated((high(sum, multiplier) + offset) >> SHIFT)
 *
 * STRIDE: 1 or 2, of rows and of columns.  PAIRS: of rows in a column of the planes.  ROUNDED: 1
 * where the high word of the product is rounded.  NEXT: bytes to the next channel's offset: 4, or 0
 * where all channels share one. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Registers: planes in r0, y in r1, words of a column in r2, r3 and r9, weights in r4 to r9, sums
 * in r10 and r11 for one column of outputs, in r12 and lr for the next.  The stack:
 *
 *     sp + 0     the bias, the multiplier and the offset of the channel
 *     sp + 12    the end of this row
 *     sp + 16    the beginning of its planes, and of its outputs
 *     sp + 24    pairs of rows that are left
 *     sp + 28    the struct; weights, numbers, y and planes go on from channel to channel */

/* Stride 1: four windows in 24 dual products, 36 multiply-accumulates. */
#define EDGEC_DEPTHWISE_3X3_TWO_BY_ONE                                                                    \
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
#define EDGEC_DEPTHWISE_3X3_LAST_BY_ONE                                                                   \
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

/* Stride 2. */
#define EDGEC_DEPTHWISE_3X3_TWO_BY_TWO                                                                    \
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
#define EDGEC_DEPTHWISE_3X3_LAST_BY_TWO                                                                   \
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

#define EDGEC_DEPTHWISE_3X3_TILE(NAME, STRIDE, PAIRS, SHIFT, ROUNDED, NEXT)                               \
    EDGEC_SEPARATE void NAME(const edgec_depthwise_3x3_tile_t *tile) {                                    \
        register const edgec_depthwise_3x3_tile_t *t __asm__("r0") = tile;                                \
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
            ".p2align 2\n"                                                                         \
            "3:\n"                                                                                 \
            ".if %c[stride] - 1\n"                                                                 \
            EDGEC_DEPTHWISE_3X3_TWO_BY_TWO                                                                \
            ".else\n"                                                                              \
            EDGEC_DEPTHWISE_3X3_TWO_BY_ONE                                                                \
            ".endif\n"                                                                             \
            "ldrd r2, r3, [sp, #4]\n"                                                              \
            EDGEC_HIGH_WORD("r11")                                                                 \
            EDGEC_HIGH_WORD("r10")                                                                 \
            EDGEC_HIGH_WORD("lr")                                                                  \
            EDGEC_HIGH_WORD("r12")                                                                 \
            EDGEC_HIGH_CODE("r11")                                                                 \
            EDGEC_HIGH_CODE("r10")                                                                 \
            EDGEC_HIGH_CODE("lr")                                                                  \
            EDGEC_HIGH_CODE("r12")                                                                 \
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
            EDGEC_DEPTHWISE_3X3_LAST_BY_TWO                                                               \
            ".else\n"                                                                              \
            EDGEC_DEPTHWISE_3X3_LAST_BY_ONE                                                               \
            ".endif\n"                                                                             \
            "ldrd r2, r3, [sp, #4]\n"                                                              \
            EDGEC_HIGH_WORD("r11")                                                                 \
            EDGEC_HIGH_WORD("r10")                                                                 \
            EDGEC_HIGH_CODE("r11")                                                                 \
            EDGEC_HIGH_CODE("r10")                                                                 \
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
#define EDGEC_DEPTHWISE_3X3_TILE(NAME, STRIDE, PAIRS, SHIFT, ROUNDED, NEXT)                        \
    EDGEC_INLINE void NAME(const edgec_depthwise_3x3_tile_t *tile) {                               \
        const int32_t column = EDGEC_DEPTHWISE_3X3 * (PAIRS);                                      \
        for (int32_t c = 0; c < tile->channels; c++) {                                             \
            for (int32_t row = 0; row < 2 * tile->pairs; row += tile->row_step > 0 ? 1 : 2) {      \
                edgec_depthwise_3x3_tile_row(tile, c, row, STRIDE, column, SHIFT, ROUNDED, NEXT);  \
            }                                                                                      \
        }                                                                                          \
    }

/* Computes a row of outputs of a channel. */
EDGEC_INLINE void edgec_depthwise_3x3_tile_row(const edgec_depthwise_3x3_tile_t *tile,
                                               int32_t channel, int32_t row, int32_t stride,
                                               int32_t column, int32_t shift, int32_t rounded,
                                               int32_t next) {
    const int32_t from = (stride == 2) ? row : row / 2;
    const int32_t count =
        2 * (int32_t)((tile->end - tile->planes) / (2 * stride * column)) + tile->odd;
    const int32_t offset = tile->offset[channel * next / 4];
    for (int32_t x = 0; x < count; x++) {
        const edgec_pair_t *const at =
            tile->planes + x * stride * column + from * EDGEC_DEPTHWISE_3X3 + channel;
        int32_t sum = tile->bias[channel];
        for (int32_t kx = 0; kx < 3; kx++) {
            const edgec_taps3_t taps = edgec_taps3(tile->weights + (channel * 3 + kx) * 4);
            const uint32_t a = at[kx * column];
            const uint32_t b = at[kx * column + EDGEC_DEPTHWISE_3X3];
            sum = (stride == 2) ? edgec_taps3_by_two(taps, a, b, sum)
                  : (row % 2)   ? edgec_taps3_odd(taps, a, b, sum)
                                : edgec_taps3_even(taps, a, b, sum);
        }
        tile->y[row * tile->row_step + x * tile->pixel_step + channel] =
            edgec_high_code(sum, tile->multiplier[channel], offset, shift, rounded);
    }
}
#endif

/* Sizes of a layer, and the function that computes outputs from its planes. */
typedef struct edgec_depthwise_3x3_layer {
    void (*tile)(const edgec_depthwise_3x3_tile_t *tile);
    int16_t height;
    int16_t width;
    int16_t channels;
    int16_t out_height;
    int16_t out_width;
    int16_t pad_top;
    int16_t left;    /* columns of padding before the image */
    int16_t inside;  /* columns of the image that windows read */
    int16_t columns; /* all that windows read */
    int16_t stride;
    int16_t pairs; /* of rows in a column of the planes */
    int16_t strip; /* rows of outputs made from one set of planes, an even number or all */
    int16_t shift; /* after the high word of the product */
} edgec_depthwise_3x3_layer_t;

/* Requantization numbers of all channels, and the code of padding. */
typedef struct edgec_depthwise_3x3_numbers {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *offset;
    int8_t x_zero_point;
} edgec_depthwise_3x3_numbers_t;

/* Computes the last row of an odd number, together with a row below it that is discarded. */
EDGEC_SEPARATE void edgec_depthwise_3x3_last(const edgec_depthwise_3x3_layer_t *layer,
                                             const edgec_depthwise_3x3_tile_t *all) {
    const int32_t done = all->pairs * layer->stride * EDGEC_DEPTHWISE_3X3;
    const edgec_depthwise_3x3_tile_t tile = {
        .row_step = 0,
        .pixel_step = all->pixel_step,
        .weights = all->weights,
        .bias = all->bias,
        .multiplier = all->multiplier,
        .offset = all->offset,
        .y = all->y + 2 * all->pairs * all->row_step,
        .planes = all->planes + done,
        .end = all->end + done,
        .pairs = 1,
        .channels = all->channels,
        .odd = all->odd,
    };
    layer->tile(&tile);
}

/* All outputs of a layer.  `offset`: of the first channel; `offset_step`: from that of a channel to
 * the next, 0 or 1.
 * Order: strips of rows; in a strip four channels are read, then their outputs are written, one
 * channel after the other. */
EDGEC_INLINE void edgec_depthwise_3x3_strips(const int8_t *x, int8_t *y, edgec_pair_t *planes,
                                             const edgec_depthwise_3x3_numbers_t *numbers,
                                             int32_t offset_step,
                                             const edgec_depthwise_3x3_layer_t *layer) {
    const int32_t channels = layer->channels;
    const edgec_depthwise_3x3_image_t image = {
        .padding = (uint8_t)numbers->x_zero_point * 0x01010101U,
        .height = layer->height,
        .row = layer->width * channels,
        .channels = channels,
        .left = layer->left,
        .inside = layer->inside,
        .column = layer->pairs * EDGEC_DEPTHWISE_3X3,
    };
    const int32_t out_row = layer->out_width * channels;
    edgec_pair_t *const end =
        planes + layer->out_width / 2 * 2 * layer->stride * layer->pairs * EDGEC_DEPTHWISE_3X3;
    edgec_depthwise_3x3_pad(planes, &image, 0, layer->left);
    edgec_depthwise_3x3_pad(planes, &image, layer->left + layer->inside, layer->columns);
    for (int32_t top = 0; top < layer->out_height; top += layer->strip) {
        const int32_t count = edgec_min_s32(layer->out_height - top, layer->strip);
        const edgec_depthwise_3x3_strip_t strip =
            edgec_depthwise_3x3_strip(top * layer->stride - layer->pad_top,
                                      ((count - 1) * layer->stride + 4) / 2, layer->height);
        edgec_depthwise_3x3_tile_t tile; /* no initializer: gcc would clear it first */
        tile.row_step = out_row;
        tile.pixel_step = channels;
        tile.pairs = count / 2;
        tile.odd = layer->out_width % 2;
        for (int32_t first = 0; first < channels; first += EDGEC_DEPTHWISE_3X3) {
            /* The last planes may hold channels that are done already. */
            const int32_t c = edgec_min_s32(first, channels - EDGEC_DEPTHWISE_3X3);
            edgec_depthwise_3x3_take(x + c, planes, &image, &strip);
            tile.weights = numbers->weights + first * 12;
            tile.bias = numbers->bias + first;
            tile.multiplier = numbers->multiplier + first;
            tile.offset = numbers->offset + first * offset_step;
            tile.y = y + top * out_row + first;
            tile.planes = planes + (first - c);
            tile.end = end + (first - c);
            tile.channels = c + EDGEC_DEPTHWISE_3X3 - first;
            if (count > 1) {
                layer->tile(&tile);
            }
            if (count % 2 > 0) {
                edgec_depthwise_3x3_last(layer, &tile);
            }
        }
    }
}

/* A layer whose channels share an offset, which its zero point gives. */
EDGEC_SEPARATE void edgec_depthwise_3x3_offset(const int8_t *x, int8_t *y, int8_t *scratch,
                                               const edgec_conv_params_t *params,
                                               const edgec_depthwise_3x3_layer_t *layer) {
    const int32_t offset = edgec_high_offset(params->y_zero_point, layer->shift);
    const edgec_depthwise_3x3_numbers_t numbers = {
        params->weights, params->bias, params->multiplier, &offset, params->x_zero_point};
    edgec_depthwise_3x3_strips(x, y, (edgec_pair_t *)(void *)scratch, &numbers, 0, layer);
}

/* A layer whose channels have offsets of their own. */
EDGEC_SEPARATE void edgec_depthwise_3x3_offsets(const int8_t *x, int8_t *y, int8_t *scratch,
                                                const edgec_offset_params_t *params,
                                                const edgec_depthwise_3x3_layer_t *layer) {
    const edgec_depthwise_3x3_numbers_t numbers = {
        params->weights, params->bias, params->multiplier, params->offset, params->x_zero_point};
    edgec_depthwise_3x3_strips(x, y, (edgec_pair_t *)(void *)scratch, &numbers, 1, layer);
}

#ifdef __cplusplus
}
#endif

#endif
