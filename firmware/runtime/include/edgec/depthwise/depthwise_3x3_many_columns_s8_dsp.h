/* Depthwise convolutions of 3x3 windows with the DSP extension, for images of many columns: an
 * accumulator tile of one channel and six neighbouring outputs of a row, requantized in registers.
 *
 * Four channels of some rows at a time are unpacked from NHWC: a word holds one channel of two
 * neighbouring pixels, less the zero point.  Padding is stored, too.  Words of neighbouring rows
 * are adjacent.  The distance between two columns is an odd number of words, so that cores which
 * load two words at once find them in different banks of memory.
 *
 *     planes   [words][4 channels][ROWS], and one more word after all of them
 *     stream   as in by_channel_s8_dsp.h
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_3X3_MANY_COLUMNS_S8_DSP_H
#define EDGEC_DEPTHWISE_DEPTHWISE_3X3_MANY_COLUMNS_S8_DSP_H

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"
#include "edgec/depthwise/by_channel_s8_dsp.h"
#include "edgec/depthwise/unpacked_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words from a column of the planes to the next. */
#define EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(ROWS) (EDGEC_DEPTHWISE_3X3 * (ROWS) + 1)

/* Defines NAME(x, planes, image), which unpacks rows of four channels.  ROWS: of the planes; LEFT:
 * 1 where the first and the last word of a row have one pixel inside the image each. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Stores the pixels in registers A and B, which it overwrites; zero point in r4, planes in r1. */
#define EDGEC_DEPTHWISE_MANY_COLUMNS_PUT(A, B)                                                                      \
    "pkhbt r8, " A ", " B ", lsl #16\n"                                                            \
    "pkhtb r9, " B ", " A ", asr #16\n"                                                            \
    "sxtab16 r10, r4, r8\n"                                                                        \
    "sxtab16 r8, r4, r8, ror #8\n"                                                                 \
    "sxtab16 r11, r4, r9\n"                                                                        \
    "str r8, [r1, #(4 * %c[rows])]\n"                                                              \
    "sxtab16 r9, r4, r9, ror #8\n"                                                                 \
    "str r11, [r1, #(8 * %c[rows])]\n"                                                             \
    "str r9, [r1, #(12 * %c[rows])]\n"                                                             \
    ".if %c[word] < 256\n"                                                                         \
    "str r10, [r1], #%c[word]\n"                                                                   \
    ".else\n"                                                                                      \
    "str r10, [r1]\n"                                                                              \
    "add r1, r1, #%c[word]\n"                                                                      \
    ".endif\n"

/* Two pairs a turn.  Registers: bytes to the next pixel in r2, to the third one in r3, pairs that
 * are left, less 2, in r5.  The stack: the beginning of a row, its pairs, rows, and the padding. */
#define EDGEC_DEPTHWISE_MANY_COLUMNS_TAKE(NAME, ROWS, LEFT)                                                         \
    EDGEC_SEPARATE void NAME(const int8_t *x, edgec_pair_t *planes,                                \
                             const edgec_depthwise_channels_image_t *image) {                                \
        register const int8_t *from __asm__("r0") = x;                                             \
        register edgec_pair_t *to __asm__("r1") = planes;                                          \
        register const edgec_depthwise_channels_image_t *sizes __asm__("r2") = image;                        \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "ldm r2, {r2-r6}\n"                                                                    \
            "push {r1, r3, r5, r6}\n"                                                              \
            "add r3, r2, r2, lsl #1\n"                                                             \
            "1:\n"                                                                                 \
            "ldr r5, [sp, #12]\n"                                                                  \
            ".if %c[left]\n"                                                                       \
            "ldr r6, [sp, #8]\n"                                                                   \
            "ldr r7, [r0]\n"                                                                       \
            "add r0, r0, r2\n"                                                                     \
            EDGEC_DEPTHWISE_MANY_COLUMNS_PUT("r6", "r7")                                                            \
            ".endif\n"                                                                             \
            ".p2align 2\n"                                                                         \
            "2:\n"                                                                                 \
            "ldr r6, [r0]\n"                                                                       \
            "ldr r7, [r0, r2]\n"                                                                   \
            "ldr r12, [r0, r2, lsl #1]\n"                                                          \
            "ldr lr, [r0, r3]\n"                                                                   \
            "add r0, r0, r2, lsl #2\n"                                                             \
            EDGEC_DEPTHWISE_MANY_COLUMNS_PUT("r6", "r7")                                                            \
            EDGEC_DEPTHWISE_MANY_COLUMNS_PUT("r12", "lr")                                                           \
            "subs r5, r5, #2\n"                                                                    \
            "bge 2b\n"                                                                             \
            ".if %c[left]\n"                                                                       \
            "cmn r5, #2\n"                                                                         \
            "beq 3f\n"                                                                             \
            "ldr r6, [r0]\n"                                                                       \
            "ldr r7, [r0, r2]\n"                                                                   \
            "add r0, r0, r2, lsl #1\n"                                                             \
            EDGEC_DEPTHWISE_MANY_COLUMNS_PUT("r6", "r7")                                                            \
            "3:\n"                                                                                 \
            "ldr r7, [sp, #8]\n"                                                                   \
            "ldr r6, [r0]\n"                                                                       \
            "add r0, r0, r2\n"                                                                     \
            EDGEC_DEPTHWISE_MANY_COLUMNS_PUT("r6", "r7")                                                            \
            ".endif\n"                                                                             \
            "ldrd r1, r5, [sp]\n"                                                                  \
            "subs r5, r5, #1\n"                                                                    \
            "add r1, r1, #4\n"                                                                     \
            "strd r1, r5, [sp]\n"                                                                  \
            "bne 1b\n"                                                                             \
            "add sp, sp, #16\n"                                                                    \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(from), "+r"(to), "+r"(sizes)                                                    \
            : [rows] "i"(ROWS), [word] "i"(4 * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(ROWS)), [left] "i"(LEFT)           \
            : "r3", "r12", "memory", "cc");                                                        \
    }

/* Registers: planes in r0, y in r1, weights of a row in r2 (w0, w1) and r3 (w1, w2), sums in r4 to
 * r9, of which the last holds the bias before its own first product, words in r10 to r12 and lr. 
 * The stack:
 *
 *     sp + 0     weights of the channel, six words
 *     sp + 24    its bias and its multiplier
 *     sp + 32    the struct; stream, y and planes go on from channel to channel
 *     sp + 64    end of the outputs of this row, and number of rows left */
#define EDGEC_DEPTHWISE_MANY_COLUMNS_OWN(SUM) #SUM
#define EDGEC_DEPTHWISE_MANY_COLUMNS_BIAS(SUM) "r9"
#define EDGEC_DEPTHWISE_MANY_COLUMNS_ROW(ROW, FROM)                                                                 \
    "ldr r2, [sp, #(8 * " #ROW ")]\n"                                                              \
    "ldr r3, [sp, #(8 * " #ROW " + 4)]\n"                                                          \
    "ldr r10, [r0, #(4 * " #ROW ")]\n"                                                             \
    "ldr r11, [r0, #(%c[word] + 4 * " #ROW ")]\n"                                                  \
    "ldr r12, [r0, #(%c[word] * 2 + 4 * " #ROW ")]\n"                                              \
    "ldr lr, [r0, #(%c[word] * 3 + 4 * " #ROW ")]\n"                                               \
    ".if %c[stride] == 1\n"                                                                        \
    "smlad r4, r10, r2, " FROM(r4) "\n"                                                            \
    "smlatb r5, r10, r2, " FROM(r5) "\n"                                                           \
    "smlad r6, r11, r2, " FROM(r6) "\n"                                                            \
    "smlatb r7, r11, r2, " FROM(r7) "\n"                                                           \
    "smlad r8, r12, r2, " FROM(r8) "\n"                                                            \
    "smlatb r9, r12, r2, " FROM(r9) "\n"                                                           \
    "smlatb r4, r3, r11, r4\n"                                                                     \
    "smlad r5, r11, r3, r5\n"                                                                      \
    "smlatb r6, r3, r12, r6\n"                                                                     \
    "smlad r7, r12, r3, r7\n"                                                                      \
    "smlatb r8, r3, lr, r8\n"                                                                      \
    "smlad r9, lr, r3, r9\n"                                                                       \
    ".else\n"                                                                                      \
    "smlad r4, r10, r2, " FROM(r4) "\n"                                                            \
    "smlad r5, r11, r2, " FROM(r5) "\n"                                                            \
    "smlad r6, r12, r2, " FROM(r6) "\n"                                                            \
    "smlad r7, lr, r2, " FROM(r7) "\n"                                                             \
    "smlatb r4, r3, r11, r4\n"                                                                     \
    "smlatb r5, r3, r12, r5\n"                                                                     \
    "smlatb r6, r3, lr, r6\n"                                                                      \
    "ldr r10, [r0, #(%c[word] * 4 + 4 * " #ROW ")]\n"                                              \
    "ldr r11, [r0, #(%c[word] * 5 + 4 * " #ROW ")]\n"                                              \
    "ldr r12, [r0, #(%c[word] * 6 + 4 * " #ROW ")]\n"                                              \
    "smlad r8, r10, r2, " FROM(r8) "\n"                                                            \
    "smlad r9, r11, r2, " FROM(r9) "\n"                                                            \
    "smlatb r7, r3, r10, r7\n"                                                                     \
    "smlatb r8, r3, r11, r8\n"                                                                     \
    "smlatb r9, r3, r12, r9\n"                                                                     \
    ".endif\n"

/* Defines NAME(task), which stores int8 outputs of some channels.
 *
 *     y = saturated((high(sum, multiplier) + offset) >> SHIFT)
 *
 * STRIDE: 1 or 2, of rows and of columns.  ROWS: of the planes.  OFFSETS: 1 where each channel has
 * an offset.  ROUNDED: 1 where the high word of the product is rounded.  REST: columns of outputs
 * after the last whole band, 0, 2 or 4: one more band ends with them and computes some again. */
#define EDGEC_DEPTHWISE_MANY_COLUMNS_ROWS(NAME, STRIDE, ROWS, SHIFT, ROUNDED, OFFSETS, REST)                        \
    EDGEC_SEPARATE void NAME(const edgec_depthwise_channels_task_t *task) {                                  \
        register const edgec_depthwise_channels_task_t *t __asm__("r0") = task;                              \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "sub sp, sp, #72\n"                                                                    \
            "ldm r0, {r1-r8}\n"                                                                    \
            "add r0, sp, #32\n"                                                                    \
            "stm r0, {r1-r8}\n"                                                                    \
            "1:\n"                                                                                 \
            EDGEC_DEPTHWISE_CHANNELS_CHANNEL                                                                 \
            "ldr r4, [sp, #40]\n"                                                                  \
            "ldr r5, [sp, #60]\n"                                                                  \
            "ldr r1, [sp, #48]\n"                                                                  \
            "ldr r0, [sp, #52]\n"                                                                  \
            "add r2, r1, #1\n"                                                                     \
            "add r3, r0, #(4 * %c[rows])\n"                                                        \
            "strd r2, r3, [sp, #48]\n"                                                             \
            "add r4, r4, r0\n"                                                                     \
            ".if %c[rest]\n"                                                                       \
            "sub r4, r4, #%c[more]\n"                                                              \
            "lsl r5, r5, #1\n"                                                                     \
            ".endif\n"                                                                             \
            "strd r4, r5, [sp, #64]\n"                                                             \
            ".p2align 2\n"                                                                         \
            "2:\n"                                                                                 \
            "ldr r9, [sp, #24]\n"                                                                  \
            EDGEC_DEPTHWISE_MANY_COLUMNS_ROW(0, EDGEC_DEPTHWISE_MANY_COLUMNS_BIAS)                                                   \
            EDGEC_DEPTHWISE_MANY_COLUMNS_ROW(1, EDGEC_DEPTHWISE_MANY_COLUMNS_OWN)                                                    \
            EDGEC_DEPTHWISE_MANY_COLUMNS_ROW(2, EDGEC_DEPTHWISE_MANY_COLUMNS_OWN)                                                    \
            "ldr r2, [sp, #28]\n"                                                                  \
            "ldr r3, [sp, #32]\n"                                                                  \
            "ldr r10, [sp, #36]\n"                                                                 \
            "ldr r11, [sp, #64]\n"                                                                 \
            EDGEC_HIGH_WORD("r4")                                                                  \
            EDGEC_HIGH_WORD("r5")                                                                  \
            EDGEC_HIGH_WORD("r6")                                                                  \
            EDGEC_HIGH_WORD("r7")                                                                  \
            EDGEC_HIGH_WORD("r8")                                                                  \
            EDGEC_HIGH_WORD("r9")                                                                  \
            EDGEC_HIGH_CODE("r4")                                                                  \
            EDGEC_HIGH_CODE("r5")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r4")                                                             \
            EDGEC_HIGH_CODE("r6")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r5")                                                             \
            EDGEC_HIGH_CODE("r7")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r6")                                                             \
            EDGEC_HIGH_CODE("r8")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r7")                                                             \
            EDGEC_HIGH_CODE("r9")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r8")                                                             \
            "add r0, r0, #(%c[word] * 3 * %c[stride])\n"                                           \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r9")                                                             \
            "cmp r0, r11\n"                                                                        \
            "bne 2b\n"                                                                             \
            "ldr r2, [sp, #40]\n"                                                                  \
            "ldr r3, [sp, #68]\n"                                                                  \
            ".if %c[rest]\n"                                                                       \
            "sub r3, r3, #1\n"                                                                     \
            "tst r3, #1\n"                                                                         \
            "beq 3f\n"                                                                             \
            "add r11, r11, #%c[more]\n"                                                            \
            "sub r0, r0, #(%c[word] * 3 * %c[stride] - %c[more])\n"                                \
            "sub r1, r1, r10, lsl #%c[back]\n"                                                     \
            "strd r11, r3, [sp, #64]\n"                                                            \
            "b 2b\n"                                                                               \
            "3:\n"                                                                                 \
            "sub r11, r11, #%c[more]\n"                                                            \
            "add r3, r3, #1\n"                                                                     \
            ".endif\n"                                                                             \
            "add r11, r11, #(4 * %c[stride])\n"                                                    \
            "add r0, r0, #(4 * %c[stride])\n"                                                      \
            "str r11, [sp, #64]\n"                                                                 \
            "sub r0, r0, r2\n"                                                                     \
            "subs r3, r3, #1\n"                                                                    \
            "str r3, [sp, #68]\n"                                                                  \
            "bne 2b\n"                                                                             \
            "ldr r2, [sp, #56]\n"                                                                  \
            "subs r2, r2, #1\n"                                                                    \
            "str r2, [sp, #56]\n"                                                                  \
            "bne 1b\n"                                                                             \
            "add sp, sp, #72\n"                                                                    \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(t)                                                                              \
            : [stride] "i"(STRIDE), [rows] "i"(ROWS), [word] "i"(4 * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(ROWS)),      \
              [shift] "i"(SHIFT), [rounded] "i"(ROUNDED), [offsets] "i"(OFFSETS),                  \
              [rest] "i"(REST), [back] "i"((6 - (REST)) / 2),                                      \
              [more] "i"(2 * (REST) * (STRIDE) * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(ROWS))          \
            : "r1", "r2", "r3", "r12", "memory", "cc");                                            \
    }
/* clang-format on */
#else
#define EDGEC_DEPTHWISE_MANY_COLUMNS_TAKE(NAME, ROWS, LEFT)                                        \
    EDGEC_INLINE void NAME(const int8_t *x, edgec_pair_t *planes,                                  \
                           const edgec_depthwise_channels_image_t *image) {                        \
        edgec_depthwise_many_columns_take(x, planes, image, ROWS, LEFT);                           \
    }
#define EDGEC_DEPTHWISE_MANY_COLUMNS_ROWS(NAME, STRIDE, ROWS, SHIFT, ROUNDED, OFFSETS, REST)       \
    EDGEC_INLINE void NAME(const edgec_depthwise_channels_task_t *task) {                          \
        const edgec_depthwise_many_columns_form_t form = {STRIDE, ROWS, SHIFT, ROUNDED, OFFSETS};  \
        for (int32_t c = 0; c < task->channels; c++) {                                             \
            edgec_depthwise_many_columns_channel(task, c, &form);                                  \
        }                                                                                          \
    }

EDGEC_INLINE void edgec_depthwise_many_columns_take(const int8_t *x, edgec_pair_t *planes,
                                                    const edgec_depthwise_channels_image_t *image,
                                                    int32_t rows, int32_t left) {
    const int32_t zero = edgec_depthwise_channels_zero(image);
    const int32_t width = 2 * (image->pairs + 2 + left);
    for (int32_t row = 0; row < image->rows; row++) {
        for (int32_t i = 0; i < width + 2 * left; i++) {
            for (int32_t c = 0; c < EDGEC_DEPTHWISE_3X3; c++) {
                const int32_t column = i - left;
                const bool inside = column >= 0 && column < width;
                const int8_t *const pixel = x + (row * width + column) * image->channels;
                const int32_t value = inside ? pixel[c] - zero : 0;
                edgec_pair_t *const to =
                    planes + i / 2 * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(rows) + c * rows + row;
                edgec_depthwise_channels_put(to, i % 2, value);
            }
        }
    }
}

/* Constants of EDGEC_DEPTHWISE_MANY_COLUMNS_ROWS, for its form in C. */
typedef struct edgec_depthwise_many_columns_form {
    int32_t stride;
    int32_t rows;
    int32_t shift;
    int32_t rounded;
    int32_t offsets;
} edgec_depthwise_many_columns_form_t;

/* The sum of a window whose first word is `planes`, or its second half. */
EDGEC_INLINE int32_t edgec_depthwise_many_columns_sum(const edgec_pair_t *planes, int32_t second,
                                                      const int8_t *weights, int32_t bias,
                                                      int32_t rows) {
    int32_t sum = bias;
    for (int32_t ky = 0; ky < 3; ky++) {
        for (int32_t kx = 0; kx < 3; kx++) {
            const int32_t i = kx + second;
            const edgec_pair_t word = planes[i / 2 * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(rows) + ky];
            sum += edgec_depthwise_channels_pixel(word, i % 2) *
                   edgec_depthwise_channels_weight(weights, ky, kx);
        }
    }
    return sum;
}

/* Computes the outputs of a channel. */
EDGEC_INLINE void
edgec_depthwise_many_columns_channel(const edgec_depthwise_channels_task_t *task, int32_t channel,
                                     const edgec_depthwise_many_columns_form_t *form) {
    const int32_t word = EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(form->rows);
    const edgec_depthwise_channels_channel_t own =
        edgec_depthwise_channels_channel(task, channel, form->offsets);
    const int32_t width = task->length / (2 * word * form->stride);
    int8_t *y = task->y + channel;
    for (int32_t oy = 0; oy < task->rows; oy++) {
        for (int32_t ox = 0; ox < width; ox++, y += task->pixel) {
            const int32_t column = ox * form->stride;
            const edgec_pair_t *const from =
                task->planes + column / 2 * word + channel * form->rows + oy * form->stride;
            const int32_t sum = edgec_depthwise_many_columns_sum(from, column % 2, own.weights,
                                                                 own.bias, form->rows);
            *y = edgec_high_code(sum, own.multiplier, own.offset, form->shift, form->rounded);
        }
    }
}
#endif

/* The sizes of a layer, and the functions of its form. */
typedef struct edgec_depthwise_many_columns_layer {
    edgec_depthwise_channels_layer_t streamed;
    int16_t height;
    int16_t width;
    int16_t out_height;
    int16_t out_width;
    int16_t stride;
    int16_t above; /* 1: windows begin one row above the image */
    int16_t left;  /* 1: windows begin one column before the image */
    int16_t strip; /* rows of outputs made from one set of planes */
} edgec_depthwise_many_columns_layer_t;

/* Clears the words of the rows `first` to `end` of the planes, in columns from `word` on. */
EDGEC_SEPARATE void
edgec_depthwise_many_columns_clear(edgec_pair_t *planes,
                                   const edgec_depthwise_many_columns_layer_t *layer, int32_t word,
                                   int32_t first, int32_t end) {
    const int32_t rows = layer->streamed.plane;
    for (; word <= layer->width / 2; word++) {
        edgec_pair_t *const column = planes + word * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(rows);
        /* For the few rows of a channel gcc would call memset. */
        for (int32_t row = first; row < end; row++) {
            for (int32_t c = 0; c < EDGEC_DEPTHWISE_3X3; c++) {
                column[c * rows + row] = 0;
            }
        }
    }
}

/* All outputs of a layer.
 * Order: strips of rows; in a strip four channels are read, then their outputs are written, one
 * channel after the other. */
EDGEC_SEPARATE void
edgec_depthwise_many_columns(const int8_t *x, int8_t *y, int8_t *scratch,
                             const edgec_residual_params_t *params,
                             const edgec_depthwise_many_columns_layer_t *layer) {
    const int32_t rows = layer->streamed.plane;
    edgec_pair_t *const planes = (edgec_pair_t *)(void *)scratch;
    edgec_depthwise_channels_image_t image; /* no initializers: gcc would clear them first */
    edgec_depthwise_channels_task_t task;
    edgec_depthwise_channels_image(&image, params, &layer->streamed);
    edgec_depthwise_channels_task(&task, params, &layer->streamed);
    image.pairs = layer->width / 2 - layer->left - 2;
    task.length = layer->out_width * layer->stride * 2 * EDGEC_DEPTHWISE_MANY_COLUMNS_WORD(rows);
    if (layer->above > 0) {
        edgec_depthwise_many_columns_clear(planes, layer, 0, 0, 1);
    }
    if (layer->left == 0) {
        edgec_depthwise_many_columns_clear(planes, layer, layer->width / 2, 0, rows);
    }
    for (int32_t top = 0; top < layer->out_height; top += layer->strip) {
        task.rows = edgec_min_s32(layer->out_height - top, layer->strip);
        const int32_t first_row = top * layer->stride - layer->above;
        const int32_t begin = edgec_max_s32(first_row, 0);
        const int32_t read = (task.rows - 1) * layer->stride + 3;
        image.rows = edgec_min_s32(first_row + read, layer->height) - begin;
        if (begin - first_row + image.rows < read) {
            edgec_depthwise_many_columns_clear(planes, layer, 0, read - 1, read);
        }
        edgec_depthwise_channels_fours(x + begin * layer->width * image.channels,
                                       planes + (begin - first_row),
                                       y + top * layer->out_width * image.channels, planes,
                                       params->weights, &layer->streamed, &image, &task);
    }
}

#ifdef __cplusplus
}
#endif

#endif
