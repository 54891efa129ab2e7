/* Depthwise convolutions of 3x3 windows with the DSP extension, for images of few columns: the
 * accumulator tile is a whole row of outputs of one channel, requantized in registers.
 *
 * Four channels at a time are unpacked from NHWC: a word holds one channel of two neighbouring
 * pixels of a row, less the zero point, so that taps on padding contribute zero and are left out.
 *
 *     planes   [rows][4 channels][words]
 *     stream   as in by_channel_s8_dsp.h
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_3X3_FEW_COLUMNS_S8_DSP_H
#define EDGEC_DEPTHWISE_DEPTHWISE_3X3_FEW_COLUMNS_S8_DSP_H

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"
#include "edgec/depthwise/by_channel_s8_dsp.h"
#include "edgec/depthwise/unpacked_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of a row of the planes. */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_PITCH(STRIDE, OUTPUTS)                                         \
    ((STRIDE) == 2 ? (OUTPUTS) : ((OUTPUTS) + 1) / 2)

/* Defines NAME(x, planes, image), which unpacks four channels.  WORDS: of a row; ODD: 1 where the
 * last of them holds one pixel. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Stores the pixels in r6 and r7; zero point in r4, planes in r1. */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_PUT                                                                           \
    "pkhbt r8, r6, r7, lsl #16\n"                                                                  \
    "pkhtb r9, r7, r6, asr #16\n"                                                                  \
    "sxtab16 r10, r4, r8\n"                                                                        \
    "sxtab16 r11, r4, r8, ror #8\n"                                                                \
    "str r10, [r1], #4\n"                                                                          \
    "sxtab16 r12, r4, r9\n"                                                                        \
    "str r11, [r1, #(4 * %c[words] - 4)]\n"                                                        \
    "sxtab16 lr, r4, r9, ror #8\n"                                                                 \
    "str r12, [r1, #(8 * %c[words] - 4)]\n"                                                        \
    "str lr, [r1, #(12 * %c[words] - 4)]\n"
#define EDGEC_DEPTHWISE_FEW_COLUMNS_TAKE(NAME, WORDS, ODD)                                                        \
    EDGEC_SEPARATE void NAME(const int8_t *x, edgec_pair_t *planes,                                \
                             const edgec_depthwise_channels_image_t *image) {                                \
        register const int8_t *from __asm__("r0") = x;                                             \
        register edgec_pair_t *to __asm__("r1") = planes;                                          \
        register const edgec_depthwise_channels_image_t *sizes __asm__("r2") = image;                        \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "ldm r2, {r2-r5}\n"                                                                    \
            ".p2align 2\n"                                                                         \
            "1:\n"                                                                                 \
            ".rept (%c[words] - %c[odd])\n"                                                        \
            "ldr r6, [r0]\n"                                                                       \
            "ldr r7, [r0, r2]\n"                                                                   \
            "add r0, r0, r2, lsl #1\n"                                                             \
            EDGEC_DEPTHWISE_FEW_COLUMNS_PUT                                                                       \
            ".endr\n"                                                                              \
            ".if %c[odd]\n"                                                                        \
            "ldr r6, [r0]\n"                                                                       \
            "add r0, r0, r2\n"                                                                     \
            "mov r7, r5\n"                                                                         \
            EDGEC_DEPTHWISE_FEW_COLUMNS_PUT                                                                       \
            ".endif\n"                                                                             \
            "add r1, r1, #(12 * %c[words])\n"                                                      \
            "subs r3, r3, #1\n"                                                                    \
            "bne 1b\n"                                                                             \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(from), "+r"(to), "+r"(sizes)                                                    \
            : [words] "i"(WORDS), [odd] "i"(ODD)                                                   \
            : "r3", "r12", "memory", "cc");                                                        \
    }

/* Registers: planes in r0, y in r1, weights of a row in r2 (w0, w1) and r3 (w1, w2), sums in r4 and
 * on, of which the last holds the bias before its own first product, words in r10 to r12, the first
 * word of the last windows in lr.  The stack:
 *
 *     sp + 0     weights of the channel, six words
 *     sp + 24    its bias and its multiplier
 *     sp + 32    the struct; stream, y and planes go on from channel to channel */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_OWN(SUM) #SUM
#define EDGEC_DEPTHWISE_FEW_COLUMNS_BIAS(SUM) "r%c[last]"
#define EDGEC_DEPTHWISE_FEW_COLUMNS_WEIGHTS(ROW)                                                                  \
    "ldr r2, [sp, #(8 * " #ROW ")]\n"                                                              \
    "ldr r3, [sp, #(8 * " #ROW " + 4)]\n"
#define EDGEC_DEPTHWISE_FEW_COLUMNS_WORDS(ROW)                                                                    \
    "ldr r10, [r0, #(%c[pitch] * " #ROW ")]\n"                                                     \
    "ldr r11, [r0, #(%c[pitch] * " #ROW " + 4)]\n"                                                 \
    ".if %c[pitch] > 32\n"                                                                         \
    "ldr r12, [r0, #(%c[pitch] * " #ROW " + 8)]\n"                                                 \
    ".endif\n"
#define EDGEC_DEPTHWISE_FEW_COLUMNS_LATER_WORDS(ROW)                                                              \
    ".if %c[pitch] > 48\n"                                                                         \
    "ldr r10, [r0, #(%c[pitch] * " #ROW " + 12)]\n"                                                \
    ".endif\n"                                                                                     \
    ".if %c[pitch] > 64\n"                                                                         \
    "ldr r11, [r0, #(%c[pitch] * " #ROW " + 16)]\n"                                                \
    ".endif\n"                                                                                     \
    ".if %c[pitch] > 80\n"                                                                         \
    "ldr r12, [r0, #(%c[pitch] * " #ROW " + 20)]\n"                                                \
    ".endif\n"

/* A row of windows of stride 1, the first of which begins in the padding. */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_BY_ONE(ROW, FROM)                                                             \
    "smlad r4, r10, r3, " FROM(r4) "\n"                                                            \
    "smlad r5, r10, r2, " FROM(r5) "\n"                                                            \
    "smlatb r6, r10, r2, " FROM(r6) "\n"                                                           \
    "smlatb r5, r3, r11, r5\n"                                                                     \
    "smlad r6, r11, r3, r6\n"                                                                      \
    ".if %c[last] > 6\n"                                                                           \
    "smlad r7, r11, r2, " FROM(r7) "\n"                                                            \
    ".endif\n"                                                                                     \
    ".if %c[last] > 7\n"                                                                           \
    "smlatb r8, r11, r2, " FROM(r8) "\n"                                                           \
    "smlatb r7, r3, r12, r7\n"                                                                     \
    "smlad r8, r12, r3, r8\n"                                                                      \
    ".endif\n"                                                                                     \
    ".if %c[last] > 8\n"                                                                           \
    "smlad r9, r12, r2, " FROM(r9) "\n"                                                            \
    ".endif\n"

/* Stride 2, the last window ends in the padding. */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_BY_TWO(ROW, FROM)                                                             \
    "smlad r4, r10, r2, " FROM(r4) "\n"                                                            \
    "smlad r5, r11, r2, " FROM(r5) "\n"                                                            \
    "smlad r6, r12, r2, " FROM(r6) "\n"                                                            \
    "smlatb r4, r3, r11, r4\n"                                                                     \
    "smlatb r5, r3, r12, r5\n"                                                                     \
    EDGEC_DEPTHWISE_FEW_COLUMNS_LATER_WORDS(ROW)                                                                  \
    ".if %c[last] > 6\n"                                                                           \
    "smlatb r6, r3, r10, r6\n"                                                                     \
    "smlad r7, r10, r2, " FROM(r7) "\n"                                                            \
    ".endif\n"                                                                                     \
    ".if %c[last] > 7\n"                                                                           \
    "smlad r8, r11, r2, " FROM(r8) "\n"                                                            \
    "smlatb r7, r3, r11, r7\n"                                                                     \
    ".endif\n"                                                                                     \
    ".if %c[last] > 8\n"                                                                           \
    "smlad r9, r12, r2, " FROM(r9) "\n"                                                            \
    "smlatb r8, r3, r12, r8\n"                                                                     \
    ".endif\n"

/* Stride 2, the first window begins in the padding. */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_BY_TWO_LEFT(ROW, FROM)                                                        \
    "smlad r4, r10, r3, " FROM(r4) "\n"                                                            \
    "smlatb r5, r10, r2, " FROM(r5) "\n"                                                           \
    "smlatb r6, r11, r2, " FROM(r6) "\n"                                                           \
    "smlad r5, r11, r3, r5\n"                                                                      \
    "smlad r6, r12, r3, r6\n"                                                                      \
    ".if %c[last] > 6\n"                                                                           \
    "smlatb r7, r12, r2, " FROM(r7) "\n"                                                           \
    ".endif\n"                                                                                     \
    EDGEC_DEPTHWISE_FEW_COLUMNS_LATER_WORDS(ROW)                                                                  \
    ".if %c[last] > 6\n"                                                                           \
    "smlad r7, r10, r3, r7\n"                                                                      \
    ".endif\n"                                                                                     \
    ".if %c[last] > 7\n"                                                                           \
    "smlatb r8, r10, r2, " FROM(r8) "\n"                                                           \
    "smlad r8, r11, r3, r8\n"                                                                      \
    ".endif\n"                                                                                     \
    ".if %c[last] > 8\n"                                                                           \
    "smlatb r9, r11, r2, " FROM(r9) "\n"                                                           \
    "smlad r9, r12, r3, r9\n"                                                                      \
    ".endif\n"

#define EDGEC_DEPTHWISE_FEW_COLUMNS_ROW(ROW, FROM)                                                                \
    EDGEC_DEPTHWISE_FEW_COLUMNS_WORDS(ROW)                                                                        \
    ".if %c[stride] == 1\n"                                                                        \
    EDGEC_DEPTHWISE_FEW_COLUMNS_BY_ONE(ROW, FROM)                                                                 \
    ".elseif %c[left]\n"                                                                           \
    EDGEC_DEPTHWISE_FEW_COLUMNS_BY_TWO_LEFT(ROW, FROM)                                                            \
    ".else\n"                                                                                      \
    EDGEC_DEPTHWISE_FEW_COLUMNS_BY_TWO(ROW, FROM)                                                                 \
    ".endif\n"

/* Defines NAME(task), which stores int8 outputs of some channels in rows of OUTPUTS, 3 to 6.
 *
 *     y = saturated((high(sum, multiplier) + offset) >> SHIFT)
 *
 * STRIDE: 1 or 2.  LEFT: 1 where the image has padding of one column at the left and one row at the
 * top, as always for stride 1.  BELOW: 1 where it has a row of padding at the bottom.  OFFSETS: 1
 * where each channel has an offset.  ROUNDED: 1 where the high word of the product is rounded. */
#define EDGEC_DEPTHWISE_FEW_COLUMNS_ROWS(NAME, STRIDE, LEFT, OUTPUTS, BELOW, SHIFT, ROUNDED, OFFSETS)             \
    EDGEC_SEPARATE void NAME(const edgec_depthwise_channels_task_t *task) {                                  \
        register const edgec_depthwise_channels_task_t *t __asm__("r0") = task;                              \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "sub sp, sp, #60\n"                                                                    \
            "ldm r0, {r1-r7}\n"                                                                    \
            ".if %c[left]\n"                                                                       \
            "sub r6, r6, #%c[pitch]\n"                                                             \
            ".endif\n"                                                                             \
            "add r0, sp, #32\n"                                                                    \
            "stm r0, {r1-r7}\n"                                                                    \
            "1:\n"                                                                                 \
            EDGEC_DEPTHWISE_CHANNELS_CHANNEL                                                                 \
            "ldr lr, [sp, #40]\n"                                                                  \
            "ldr r1, [sp, #48]\n"                                                                  \
            "ldr r0, [sp, #52]\n"                                                                  \
            "add r2, r1, #1\n"                                                                     \
            "add r3, r0, #(%c[pitch] / 4)\n"                                                       \
            "strd r2, r3, [sp, #48]\n"                                                             \
            "add lr, lr, r0\n"                                                                     \
            ".if %c[left]\n"                                                                       \
            "mov r4, r10\n"                                                                        \
            "mov r5, r10\n"                                                                        \
            "mov r6, r10\n"                                                                        \
            ".if %c[last] > 6\n"                                                                   \
            "mov r7, r10\n"                                                                        \
            ".endif\n"                                                                             \
            ".if %c[last] > 7\n"                                                                   \
            "mov r8, r10\n"                                                                        \
            ".endif\n"                                                                             \
            ".if %c[last] > 8\n"                                                                   \
            "mov r9, r10\n"                                                                        \
            ".endif\n"                                                                             \
            "b 3f\n"                                                                               \
            ".endif\n"                                                                             \
            ".p2align 2\n"                                                                         \
            "2:\n"                                                                                 \
            "ldr r%c[last], [sp, #24]\n"                                                           \
            EDGEC_DEPTHWISE_FEW_COLUMNS_WEIGHTS(0)                                                                \
            EDGEC_DEPTHWISE_FEW_COLUMNS_ROW(0, EDGEC_DEPTHWISE_FEW_COLUMNS_BIAS)                                                 \
            "3:\n"                                                                                 \
            EDGEC_DEPTHWISE_FEW_COLUMNS_WEIGHTS(1)                                                                \
            EDGEC_DEPTHWISE_FEW_COLUMNS_ROW(1, EDGEC_DEPTHWISE_FEW_COLUMNS_OWN)                                                  \
            "cmp r0, lr\n"                                                                         \
            ".if %c[below]\n"                                                                      \
            "beq 4f\n"                                                                             \
            ".endif\n"                                                                             \
            EDGEC_DEPTHWISE_FEW_COLUMNS_WEIGHTS(2)                                                                \
            EDGEC_DEPTHWISE_FEW_COLUMNS_ROW(2, EDGEC_DEPTHWISE_FEW_COLUMNS_OWN)                                                  \
            "4:\n"                                                                                 \
            "ldr r2, [sp, #28]\n"                                                                  \
            "ldr r3, [sp, #32]\n"                                                                  \
            "ldr r10, [sp, #36]\n"                                                                 \
            EDGEC_HIGH_WORD("r4")                                                                  \
            EDGEC_HIGH_WORD("r5")                                                                  \
            EDGEC_HIGH_WORD("r6")                                                                  \
            ".if %c[last] > 6\n"                                                                   \
            EDGEC_HIGH_WORD("r7")                                                                  \
            ".endif\n"                                                                             \
            ".if %c[last] > 7\n"                                                                   \
            EDGEC_HIGH_WORD("r8")                                                                  \
            ".endif\n"                                                                             \
            ".if %c[last] > 8\n"                                                                   \
            EDGEC_HIGH_WORD("r9")                                                                  \
            ".endif\n"                                                                             \
            EDGEC_HIGH_CODE("r4")                                                                  \
            EDGEC_HIGH_CODE("r5")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r4")                                                             \
            EDGEC_HIGH_CODE("r6")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r5")                                                             \
            ".if %c[last] > 6\n"                                                                   \
            EDGEC_HIGH_CODE("r7")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r6")                                                             \
            ".endif\n"                                                                             \
            ".if %c[last] > 7\n"                                                                   \
            EDGEC_HIGH_CODE("r8")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r7")                                                             \
            ".endif\n"                                                                             \
            ".if %c[last] > 8\n"                                                                   \
            EDGEC_HIGH_CODE("r9")                                                                  \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r8")                                                             \
            ".endif\n"                                                                             \
            "add r0, r0, #(%c[pitch] * %c[stride])\n"                                              \
            EDGEC_DEPTHWISE_CHANNELS_STORE("r%c[last]")                                                      \
            "bne 2b\n"                                                                             \
            "ldr r2, [sp, #56]\n"                                                                  \
            "subs r2, r2, #1\n"                                                                    \
            "str r2, [sp, #56]\n"                                                                  \
            "bne 1b\n"                                                                             \
            "add sp, sp, #60\n"                                                                    \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(t)                                                                              \
            : [stride] "i"(STRIDE), [left] "i"(LEFT), [last] "i"((OUTPUTS) + 3),                   \
              [pitch] "i"(16 * EDGEC_DEPTHWISE_FEW_COLUMNS_PITCH(STRIDE, OUTPUTS)), [below] "i"(BELOW),           \
              [shift] "i"(SHIFT), [rounded] "i"(ROUNDED), [offsets] "i"(OFFSETS)                   \
            : "r1", "r2", "r3", "r12", "memory", "cc");                                            \
    }
/* clang-format on */
#else
#define EDGEC_DEPTHWISE_FEW_COLUMNS_TAKE(NAME, WORDS, ODD)                                         \
    EDGEC_INLINE void NAME(const int8_t *x, edgec_pair_t *planes,                                  \
                           const edgec_depthwise_channels_image_t *image) {                        \
        edgec_depthwise_few_columns_take(x, planes, image, WORDS, ODD);                            \
    }
#define EDGEC_DEPTHWISE_FEW_COLUMNS_ROWS(NAME, STRIDE, LEFT, OUTPUTS, BELOW, SHIFT, ROUNDED,       \
                                         OFFSETS)                                                  \
    EDGEC_INLINE void NAME(const edgec_depthwise_channels_task_t *task) {                          \
        const edgec_depthwise_few_columns_form_t form = {STRIDE, LEFT,    OUTPUTS, BELOW,          \
                                                         SHIFT,  ROUNDED, OFFSETS};                \
        for (int32_t c = 0; c < task->channels; c++) {                                             \
            edgec_depthwise_few_columns_channel(task, c, &form);                                   \
        }                                                                                          \
    }

EDGEC_INLINE void edgec_depthwise_few_columns_take(const int8_t *x, edgec_pair_t *planes,
                                                   const edgec_depthwise_channels_image_t *image,
                                                   int32_t words, int32_t odd) {
    const int32_t zero = edgec_depthwise_channels_zero(image);
    const int32_t columns = 2 * words - odd;
    for (int32_t row = 0; row < image->rows; row++) {
        for (int32_t i = 0; i < 2 * words; i++) {
            for (int32_t c = 0; c < EDGEC_DEPTHWISE_3X3; c++) {
                const int8_t *const pixel = x + (row * columns + i) * image->channels;
                const int32_t value = (i < columns) ? pixel[c] - zero : 0;
                edgec_pair_t *const to = planes + (row * EDGEC_DEPTHWISE_3X3 + c) * words + i / 2;
                edgec_depthwise_channels_put(to, i % 2, value);
            }
        }
    }
}

/* Constants of EDGEC_DEPTHWISE_FEW_COLUMNS_ROWS, for its form in C. */
typedef struct edgec_depthwise_few_columns_form {
    int32_t stride;
    int32_t left;
    int32_t outputs;
    int32_t below;
    int32_t shift;
    int32_t rounded;
    int32_t offsets;
} edgec_depthwise_few_columns_form_t;

/* The sum of the row `oy` in the column `ox`, of a channel whose first word is `planes`. */
EDGEC_INLINE int32_t edgec_depthwise_few_columns_sum(
    const edgec_pair_t *planes, const int8_t *weights, int32_t bias, int32_t rows, int32_t oy,
    int32_t ox, const edgec_depthwise_few_columns_form_t *form) {
    const int32_t words = EDGEC_DEPTHWISE_FEW_COLUMNS_PITCH(form->stride, form->outputs);
    int32_t sum = bias;
    for (int32_t ky = 0; ky < 3; ky++) {
        const int32_t iy = oy * form->stride - form->left + ky;
        for (int32_t kx = 0; kx < 3; kx++) {
            const int32_t ix = ox * form->stride - form->left + kx;
            if (iy >= 0 && iy < rows && ix >= 0 && ix < 2 * words) {
                const edgec_pair_t word = planes[iy * EDGEC_DEPTHWISE_3X3 * words + ix / 2];
                sum += edgec_depthwise_channels_pixel(word, ix % 2) *
                       edgec_depthwise_channels_weight(weights, ky, kx);
            }
        }
    }
    return sum;
}

/* Computes the outputs of a channel. */
EDGEC_INLINE void
edgec_depthwise_few_columns_channel(const edgec_depthwise_channels_task_t *task, int32_t channel,
                                    const edgec_depthwise_few_columns_form_t *form) {
    const int32_t words = EDGEC_DEPTHWISE_FEW_COLUMNS_PITCH(form->stride, form->outputs);
    const edgec_depthwise_channels_channel_t own =
        edgec_depthwise_channels_channel(task, channel, form->offsets);
    const int32_t last = task->length / (16 * words);
    const int32_t rows = last - form->left + 3 - form->below;
    const edgec_pair_t *const planes = task->planes + channel * words;
    int8_t *y = task->y + channel;
    for (int32_t oy = 0; oy * form->stride <= last; oy++) {
        for (int32_t ox = 0; ox < form->outputs; ox++, y += task->pixel) {
            const int32_t sum =
                edgec_depthwise_few_columns_sum(planes, own.weights, own.bias, rows, oy, ox, form);
            *y = edgec_high_code(sum, own.multiplier, own.offset, form->shift, form->rounded);
        }
    }
}
#endif

/* The sizes of a layer, and the functions of its shape. */
typedef struct edgec_depthwise_few_columns_layer {
    edgec_depthwise_channels_layer_t streamed;
    int16_t height;
    int32_t length; /* bytes in the planes from the first windows to the last ones */
} edgec_depthwise_few_columns_layer_t;

/* All outputs of a layer.
 * Order: four channels of the whole image are read, then their outputs are written, one channel
 * after the other. */
EDGEC_SEPARATE void edgec_depthwise_few_columns(const int8_t *x, int8_t *y, int8_t *scratch,
                                                const edgec_residual_params_t *params,
                                                const edgec_depthwise_few_columns_layer_t *layer) {
    edgec_pair_t *const planes = (edgec_pair_t *)(void *)scratch;
    edgec_depthwise_channels_image_t image; /* no initializers: gcc would clear them first */
    edgec_depthwise_channels_task_t task;
    edgec_depthwise_channels_image(&image, params, &layer->streamed);
    edgec_depthwise_channels_task(&task, params, &layer->streamed);
    image.rows = layer->height;
    task.length = layer->length;
    edgec_depthwise_channels_fours(x, planes, y, planes, params->weights, &layer->streamed, &image,
                                   &task);
}

#ifdef __cplusplus
}
#endif

#endif
