/* Depthwise convolutions of 3x3 windows whose channels are a stream: what narrow.h and bands.h have
 * in common.  Four channels at a time are taken apart (planes.h), less the code of zero.
 *
 *     stream   [channels]: weights of int8 [rows of the window][4], in each w0, w1, w1, w2; then
 * the bias, the multiplier and, where channels have offsets of their own, the offset
 */
#ifndef EDGEC_STREAMED_H
#define EDGEC_STREAMED_H

#include "edgec/high_code.h"
#include "edgec/math.h"
#include "edgec/params.h"
#include "edgec/planes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How an image is taken apart. */
typedef struct edgec_streamed_image {
    int32_t channels; /* bytes from pixel to pixel */
    int32_t rows;
    uint32_t zero;    /* the code of zero, negated, twice */
    uint32_t padding; /* four times that code */
    int32_t pairs;    /* of pixels of a row whose columns are both inside, less 2: of bands only */
} edgec_streamed_image_t;

/* What a function reads and writes: all of it is that of the first channel. */
typedef struct edgec_streamed_task {
    int32_t offset; /* that all channels share, if they do */
    int32_t pixel;  /* bytes from pixel to pixel of y */
    int32_t length; /* bytes in the planes: of the first windows of rows, or of those of a row */
    const int8_t *stream;
    int8_t *y;
    const edgec_pair_t *planes;
    int32_t channels;
    int32_t rows; /* of outputs: of bands only */
} edgec_streamed_task_t;

/* A layer: the functions of its form, and its channels. */
typedef struct edgec_streamed_layer {
    void (*take)(const int8_t *x, edgec_pair_t *planes, const edgec_streamed_image_t *image);
    void (*rows)(const edgec_streamed_task_t *task);
    int16_t channels;
    int16_t plane;   /* words from the plane of a channel to the next */
    int16_t numbers; /* bytes of the stream for a channel */
    int16_t shift;   /* after the high word of the product */
} edgec_streamed_layer_t;

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* A channel of the stream at sp + 44 goes to the stack: its weights, six words, the bias, the
 * multiplier and, with %[offsets], the offset. */
#define EDGEC_STREAMED_CHANNEL                                                                     \
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
/* y in r1 goes on by r10. */
#define EDGEC_STREAMED_STORE(CODE)                                                                 \
    "strb " CODE ", [r1]\n"                                                                        \
    "add r1, r1, r10\n"
/* clang-format on */
#else
/* A pixel of the planes: the half `half` of a word. */
EDGEC_INLINE void edgec_streamed_put(edgec_pair_t *to, int32_t half, int32_t value) {
    const uint32_t bits = (uint32_t)value & 0xFFFFU;
    *to = (half > 0) ? *to | bits << 16 : bits;
}

/* What `edgec_streamed_put` put there. */
EDGEC_INLINE int32_t edgec_streamed_pixel(edgec_pair_t word, int32_t half) {
    return (int16_t)((half > 0 ? word >> 16 : word) & 0xFFFFU);
}

/* The code of zero of an image. */
EDGEC_INLINE int32_t edgec_streamed_zero(const edgec_streamed_image_t *image) {
    return -(int32_t)(int16_t)(image->zero & 0xFFFFU);
}

/* A channel of the stream. */
typedef struct edgec_streamed_channel {
    const int8_t *weights;
    int32_t bias;
    int32_t multiplier;
    int32_t offset;
} edgec_streamed_channel_t;

EDGEC_INLINE edgec_streamed_channel_t edgec_streamed_channel(const edgec_streamed_task_t *task,
                                                             int32_t channel, int32_t offsets) {
    const int8_t *const weights = task->stream + channel * (20 + 4 * offsets);
    const edgec_streamed_channel_t found = {
        .weights = weights,
        .bias = (int32_t)edgec_word_at(weights + 12),
        .multiplier = (int32_t)edgec_word_at(weights + 16),
        .offset = offsets > 0 ? (int32_t)edgec_word_at(weights + 20) : task->offset,
    };
    return found;
}

/* The weight of a row and a column of the window. */
EDGEC_INLINE int32_t edgec_streamed_weight(const int8_t *weights, int32_t row, int32_t column) {
    return weights[4 * row + column + column / 2];
}
#endif

/* How the image of a layer is taken apart; `rows` and `pairs` are not said. */
EDGEC_INLINE void edgec_streamed_image(edgec_streamed_image_t *image,
                                       const edgec_stream_params_t *params,
                                       const edgec_streamed_layer_t *layer) {
    image->channels = layer->channels;
    image->zero = ((uint32_t)-params->x_zero_point & 0xFFFFU) * 0x00010001U;
    image->padding = (uint8_t)params->x_zero_point * 0x01010101U;
}

/* What all channels of a layer have in common; `length` and `rows` are not said. */
EDGEC_INLINE void edgec_streamed_task(edgec_streamed_task_t *task,
                                      const edgec_stream_params_t *params,
                                      const edgec_streamed_layer_t *layer) {
    task->offset = edgec_high_offset(params->y_zero_point, layer->shift);
    task->pixel = layer->channels;
}

/* All channels of rows of the image from `x` on, which go to the planes from `to` on; outputs of
 * the windows in `planes` go to `y`.
 * Order: four channels are read, then their outputs are written, one channel after the other. */
EDGEC_INLINE void edgec_streamed_fours(const int8_t *x, edgec_pair_t *to, int8_t *y,
                                       const edgec_pair_t *planes, const int8_t *stream,
                                       const edgec_streamed_layer_t *layer,
                                       const edgec_streamed_image_t *image,
                                       edgec_streamed_task_t *task) {
    const int32_t channels = layer->channels;
    for (int32_t first = 0; first < channels; first += EDGEC_PLANES) {
        /* The last planes may hold channels that are done already. */
        const int32_t c = edgec_min_s32(first, channels - EDGEC_PLANES);
        layer->take(x + c, to, image);
        task->stream = stream + first * layer->numbers;
        task->y = y + first;
        task->planes = planes + (first - c) * layer->plane;
        task->channels = c + EDGEC_PLANES - first;
        layer->rows(task);
    }
}

#ifdef __cplusplus
}
#endif

#endif
