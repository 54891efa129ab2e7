/* Common part of depthwise_3x3_few_columns_s8_dsp.h and depthwise_3x3_many_columns_s8_dsp.h:
 * depthwise convolutions of 3x3 windows that read the weights and numbers of channels one after the
 * other.  Four channels at a time are unpacked (unpacked_s8_dsp.h), less the zero point.
 *
 *     stream   [channels]: weights of int8 [rows of the window][4], in each w0, w1, w1, w2; then
 *              the bias, the multiplier and, where channels have offsets of their own, the offset
 */
#ifndef EDGEC_DEPTHWISE_BY_CHANNEL_S8_DSP_H
#define EDGEC_DEPTHWISE_BY_CHANNEL_S8_DSP_H

#include "edgec/arithmetic/high_word.h"
#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"
#include "edgec/depthwise/unpacked_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of an image, for unpacking its channels. */
typedef struct edgec_depthwise_channels_image {
    int32_t channels; /* bytes from pixel to pixel */
    int32_t rows;
    uint32_t zero;    /* the code of zero, negated, twice */
    uint32_t padding; /* four times that code */
    int32_t pairs;    /* of pixels of a row whose columns are both inside, less 2: of bands only */
} edgec_depthwise_channels_image_t;

/* Operands of a function, all of the first channel. */
typedef struct edgec_depthwise_channels_task {
    int32_t offset; /* that all channels share, if they do */
    int32_t pixel;  /* bytes from pixel to pixel of y */
    int32_t length; /* bytes in the planes: of the first windows of rows, or of those of a row */
    const int8_t *stream;
    int8_t *y;
    const edgec_pair_t *planes;
    int32_t channels;
    int32_t rows; /* of outputs: of bands only */
} edgec_depthwise_channels_task_t;

/* A layer: the functions of its form, and its channels. */
typedef struct edgec_depthwise_channels_layer {
    void (*take)(const int8_t *x, edgec_pair_t *planes,
                 const edgec_depthwise_channels_image_t *image);
    void (*rows)(const edgec_depthwise_channels_task_t *task);
    int16_t channels;
    int16_t plane;   /* words from the plane of a channel to the next */
    int16_t numbers; /* bytes of the stream for a channel */
    int16_t shift;   /* after the high word of the product */
} edgec_depthwise_channels_layer_t;

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A channel of the stream at sp + 44 goes to the stack: its weights, six words, the bias, the
 * multiplier and, with %[offsets], the offset. */
#define EDGEC_DEPTHWISE_CHANNELS_CHANNEL                                                                     \
    "ldr r0, [sp, #44]\n"                                                                          \
    ".if %c[offsets]\n"                                                                            \
    "ldm r0!, {r4, r6, r8, r10, r11, r12}\n"                                                       \
    ".else\n"                                                                                      \
    "ldm r0!, {r4, r6, r8, r10, r11}\n"                                                            \
    ".endif\n"                                                                                     \
    "sxtb16 r5, r4, ror #8\n"                                                                      \
    "sxtb16 r4, r4\n"                                                                              \
    "sxtb16 r7, r6, ror #8\n"                                                                      \
    "sxtb16 r6, r6\n"                                                                              \
    "sxtb16 r9, r8, ror #8\n"                                                                      \
    "sxtb16 r8, r8\n"                                                                              \
    ".if %c[offsets]\n"                                                                            \
    "stm sp, {r4-r12}\n"                                                                           \
    ".else\n"                                                                                      \
    "stm sp, {r4-r11}\n"                                                                           \
    ".endif\n"                                                                                     \
    "str r0, [sp, #44]\n"
/* Stores a code at y, r1, and advances it by r10. */
#define EDGEC_DEPTHWISE_CHANNELS_STORE(CODE)                                                                 \
    "strb " CODE ", [r1]\n"                                                                        \
    "add r1, r1, r10\n"
/* clang-format on */
#else
/* A pixel of the planes: the half `half` of a word. */
EDGEC_INLINE void edgec_depthwise_channels_put(edgec_pair_t *to, int32_t half, int32_t value) {
    const uint32_t bits = (uint32_t)value & 0xFFFFU;
    *to = (half > 0) ? *to | bits << 16 : bits;
}

/* A pixel of the planes, as edgec_depthwise_channels_put stored it. */
EDGEC_INLINE int32_t edgec_depthwise_channels_pixel(edgec_pair_t word, int32_t half) {
    return (int16_t)((half > 0 ? word >> 16 : word) & 0xFFFFU);
}

/* The zero point of an image. */
EDGEC_INLINE int32_t edgec_depthwise_channels_zero(const edgec_depthwise_channels_image_t *image) {
    return -(int32_t)(int16_t)(image->zero & 0xFFFFU);
}

/* A channel of the stream. */
typedef struct edgec_depthwise_channels_channel {
    const int8_t *weights;
    int32_t bias;
    int32_t multiplier;
    int32_t offset;
} edgec_depthwise_channels_channel_t;

EDGEC_INLINE edgec_depthwise_channels_channel_t edgec_depthwise_channels_channel(
    const edgec_depthwise_channels_task_t *task, int32_t channel, int32_t offsets) {
    const int8_t *const weights = task->stream + channel * (20 + 4 * offsets);
    const edgec_depthwise_channels_channel_t found = {
        .weights = weights,
        .bias = (int32_t)edgec_word_at(weights + 12),
        .multiplier = (int32_t)edgec_word_at(weights + 16),
        .offset = offsets > 0 ? (int32_t)edgec_word_at(weights + 20) : task->offset,
    };
    return found;
}

/* The weight of a row and a column of the window. */
EDGEC_INLINE int32_t edgec_depthwise_channels_weight(const int8_t *weights, int32_t row,
                                                     int32_t column) {
    return weights[4 * row + column + column / 2];
}
#endif

/* Sets the layout of a layer's image, but for `rows` and `pairs`. */
EDGEC_INLINE void edgec_depthwise_channels_image(edgec_depthwise_channels_image_t *image,
                                                 const edgec_residual_params_t *params,
                                                 const edgec_depthwise_channels_layer_t *layer) {
    image->channels = layer->channels;
    image->zero = ((uint32_t)-params->x_zero_point & 0xFFFFU) * 0x00010001U;
    image->padding = (uint8_t)params->x_zero_point * 0x01010101U;
}

/* Sets the operands that all channels of a layer share, but for `length` and `rows`. */
EDGEC_INLINE void edgec_depthwise_channels_task(edgec_depthwise_channels_task_t *task,
                                                const edgec_residual_params_t *params,
                                                const edgec_depthwise_channels_layer_t *layer) {
    task->offset = edgec_high_offset(params->y_zero_point, layer->shift);
    task->pixel = layer->channels;
}

/* Computes all channels of rows of the image from `x` on, four at a time: unpacked to `to`, outputs
 * of the windows in `planes` to `y`.
 * Order: four channels are read, then their outputs are written, one channel after the other. */
EDGEC_INLINE void edgec_depthwise_channels_fours(const int8_t *x, edgec_pair_t *to, int8_t *y,
                                                 const edgec_pair_t *planes, const int8_t *stream,
                                                 const edgec_depthwise_channels_layer_t *layer,
                                                 const edgec_depthwise_channels_image_t *image,
                                                 edgec_depthwise_channels_task_t *task) {
    const int32_t channels = layer->channels;
    for (int32_t first = 0; first < channels; first += EDGEC_DEPTHWISE_3X3) {
        /* The last planes may hold channels that are done already. */
        const int32_t c = edgec_min_s32(first, channels - EDGEC_DEPTHWISE_3X3);
        layer->take(x + c, to, image);
        task->stream = stream + first * layer->numbers;
        task->y = y + first;
        task->planes = planes + (first - c) * layer->plane;
        task->channels = c + EDGEC_DEPTHWISE_3X3 - first;
        layer->rows(task);
    }
}

#ifdef __cplusplus
}
#endif

#endif
