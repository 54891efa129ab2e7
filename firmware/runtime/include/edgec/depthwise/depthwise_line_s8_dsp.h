/* Depthwise convolutions whose windows are a line of taps, all inside the image, with the DSP
 * extension: four channels of a pixel at a time, requantized in registers.
 *
 * Of two taps the words of four channels become four pairs, and so do their weights, the bytes of
 * which lie alike: a dual product takes a pair.  The last tap of an odd number goes alone.
 *
 *     stream   [fours of channels]: biases of int32 [4]; weights of int8 [pairs of taps]: of
 *              channels 0 and 1 for both taps, then of channels 2 and 3; of an odd tap [4];
 *              multipliers [4]; where channels have offsets of their own offsets [4], where they
 *              have shifts of their own a byte for each: the shift less 1
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_LINE_S8_DSP_H
#define EDGEC_DEPTHWISE_DEPTHWISE_LINE_S8_DSP_H

#include "edgec/arithmetic/high_word.h"
#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/arithmetic/params.h"
#include "edgec/arithmetic/tflite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channels that are computed together. */
#define EDGEC_DEPTHWISE_LINE_CHANNELS 4

/* Operands of a function, all of the first channel. */
typedef struct edgec_depthwise_line_task {
    const int8_t *x; /* first tap */
    const int8_t *stream;
    int32_t step; /* bytes from tap to tap */
    int8_t *y;
    const int8_t *end; /* of y */
    int32_t offset;    /* of all channels; where they have shifts of their own, with a shift of 1 */
    int32_t back;      /* bytes from the last tap, or the one after it, to the next four channels */
    int32_t turns;     /* any: only takes room */
} edgec_depthwise_line_task_t;

/* Defines NAME(task), which stores int8 outputs of a pixel.
 *
 *     y = saturated((high(sum, multiplier) + offset) >> SHIFT)
 *
 * TAPS: 2 or more, of which UNROLLED pairs are a turn of the loop and what is left comes first.
 * ROUNDED: 1 where the high word of the product is rounded.  NUMBERS: 0; 1 where each channel has
 * an offset; 2 where each has a shift, and codes are those of edgec_requantize_twice_s8: then SHIFT
 * is 1 and the shift of a channel, less 1, comes before it. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Registers: the tap in r0, the stream in r1, the step in r2, y in r3, sums in r4 to r7.  The stack:
 * step, end of y, offset, way back, turns left. */
#define EDGEC_DEPTHWISE_LINE_PAIR                                                                  \
    "ldr r8, [r0]\n"                                                                               \
    "ldr r9, [r0, r2]\n"                                                                           \
    "ldr r11, [r1, #4]\n"                                                                          \
    "ldr r10, [r1], #8\n"                                                                          \
    "add r0, r0, r2, lsl #1\n"                                                                     \
    "pkhbt r12, r8, r9, lsl #16\n"                                                                 \
    "pkhtb r8, r9, r8, asr #16\n"                                                                  \
    "sxtb16 r9, r12\n"                                                                             \
    "sxtb16 lr, r10\n"                                                                             \
    "smlad r4, r9, lr, r4\n"                                                                       \
    "sxtb16 r12, r12, ror #8\n"                                                                    \
    "sxtb16 r10, r10, ror #8\n"                                                                    \
    "smlad r5, r12, r10, r5\n"                                                                     \
    "sxtb16 r9, r8\n"                                                                              \
    "sxtb16 lr, r11\n"                                                                             \
    "smlad r6, r9, lr, r6\n"                                                                       \
    "sxtb16 r8, r8, ror #8\n"                                                                      \
    "sxtb16 r11, r11, ror #8\n"                                                                    \
    "smlad r7, r8, r11, r7\n"
#define EDGEC_DEPTHWISE_LINE_HIGH(SUM, MULTIPLIER, OFFSET)                                         \
    ".if %c[rounded]\n"                                                                            \
    "smmlar " SUM ", " SUM ", " MULTIPLIER ", " OFFSET "\n"                                        \
    ".else\n"                                                                                      \
    "smmla " SUM ", " SUM ", " MULTIPLIER ", " OFFSET "\n"                                         \
    ".endif\n"
/* The offset in lr, the shift in the low byte of r12; r2 is free. */
#define EDGEC_DEPTHWISE_LINE_TWICE(SUM, MULTIPLIER)                                                \
    "lsl r2, lr, r12\n"                                                                            \
    "add r2, r2, " SUM ", asr #31\n"                                                               \
    "lsl " SUM ", " SUM ", #1\n"                                                                   \
    "smmlar " SUM ", " SUM ", " MULTIPLIER ", r2\n"                                                \
    "asr " SUM ", " SUM ", r12\n"

#define EDGEC_DEPTHWISE_LINE(NAME, TAPS, UNROLLED, SHIFT, ROUNDED, NUMBERS)                        \
    EDGEC_SEPARATE void NAME(const edgec_depthwise_line_task_t *task) {                            \
        register const edgec_depthwise_line_task_t *t __asm__("r0") = task;                        \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "ldm r0, {r0-r7}\n"                                                                    \
            "push {r2, r4-r7}\n"                                                                   \
            "1:\n"                                                                                 \
            "ldm r1!, {r4-r7}\n"                                                                   \
            ".rept %c[pairs] %% %c[unrolled]\n"                                                    \
            EDGEC_DEPTHWISE_LINE_PAIR                                                              \
            ".endr\n"                                                                              \
            ".if %c[pairs] / %c[unrolled] - 1\n"                                                   \
            "mov r8, #(%c[pairs] / %c[unrolled])\n"                                                \
            "str r8, [sp, #16]\n"                                                                  \
            ".p2align 2\n"                                                                         \
            ".endif\n"                                                                             \
            "2:\n"                                                                                 \
            ".rept %c[unrolled]\n"                                                                 \
            EDGEC_DEPTHWISE_LINE_PAIR                                                              \
            ".endr\n"                                                                              \
            ".if %c[pairs] / %c[unrolled] - 1\n"                                                   \
            "ldr r8, [sp, #16]\n"                                                                  \
            "subs r8, r8, #1\n"                                                                    \
            "str r8, [sp, #16]\n"                                                                  \
            "bne 2b\n"                                                                             \
            ".endif\n"                                                                             \
            ".if %c[odd]\n"                                                                        \
            "ldr r8, [r0]\n"                                                                       \
            "ldr r10, [r1], #4\n"                                                                  \
            "sxtb16 r9, r8\n"                                                                      \
            "sxtb16 r11, r10\n"                                                                    \
            "sxtb16 r8, r8, ror #8\n"                                                              \
            "sxtb16 r10, r10, ror #8\n"                                                            \
            "smlabb r4, r9, r11, r4\n"                                                             \
            "smlatt r6, r9, r11, r6\n"                                                             \
            "smlabb r5, r8, r10, r5\n"                                                             \
            "smlatt r7, r8, r10, r7\n"                                                             \
            ".endif\n"                                                                             \
            ".if %c[numbers] == 1\n"                                                               \
            "ldm r1!, {r8-r12, lr}\n"                                                              \
            EDGEC_DEPTHWISE_LINE_HIGH("r4", "r8", "r12")                                           \
            EDGEC_DEPTHWISE_LINE_HIGH("r5", "r9", "lr")                                            \
            "ldm r1!, {r12, lr}\n"                                                                 \
            EDGEC_DEPTHWISE_LINE_HIGH("r6", "r10", "r12")                                          \
            EDGEC_DEPTHWISE_LINE_HIGH("r7", "r11", "lr")                                           \
            ".elseif %c[numbers] == 2\n"                                                           \
            "ldm r1!, {r8-r12}\n"                                                                  \
            "ldr lr, [sp, #8]\n"                                                                   \
            EDGEC_DEPTHWISE_LINE_TWICE("r4", "r8")                                                 \
            "lsr r12, r12, #8\n"                                                                   \
            EDGEC_DEPTHWISE_LINE_TWICE("r5", "r9")                                                 \
            "lsr r12, r12, #8\n"                                                                   \
            EDGEC_DEPTHWISE_LINE_TWICE("r6", "r10")                                                \
            "lsr r12, r12, #8\n"                                                                   \
            EDGEC_DEPTHWISE_LINE_TWICE("r7", "r11")                                                \
            ".else\n"                                                                              \
            "ldm r1!, {r8-r11}\n"                                                                  \
            "ldr r12, [sp, #8]\n"                                                                  \
            EDGEC_DEPTHWISE_LINE_HIGH("r4", "r8", "r12")                                           \
            EDGEC_DEPTHWISE_LINE_HIGH("r5", "r9", "r12")                                           \
            EDGEC_DEPTHWISE_LINE_HIGH("r6", "r10", "r12")                                          \
            EDGEC_DEPTHWISE_LINE_HIGH("r7", "r11", "r12")                                          \
            ".endif\n"                                                                             \
            "ldr r2, [sp]\n"                                                                       \
            "ldr r8, [sp, #4]\n"                                                                   \
            "ldr r9, [sp, #12]\n"                                                                  \
            EDGEC_HIGH_CODE("r4")                                                                  \
            EDGEC_HIGH_CODE("r5")                                                                  \
            EDGEC_HIGH_CODE("r6")                                                                  \
            EDGEC_HIGH_CODE("r7")                                                                  \
            "strb r4, [r3]\n"                                                                      \
            "strb r5, [r3, #1]\n"                                                                  \
            "strb r6, [r3, #2]\n"                                                                  \
            "strb r7, [r3, #3]\n"                                                                  \
            "add r3, r3, #4\n"                                                                     \
            "add r0, r0, r9\n"                                                                     \
            "cmp r3, r8\n"                                                                         \
            "bne 1b\n"                                                                             \
            "add sp, sp, #20\n"                                                                    \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(t)                                                                              \
            : [pairs] "i"((TAPS) / 2), [odd] "i"((TAPS) % 2), [unrolled] "i"(UNROLLED),            \
              [shift] "i"(SHIFT), [rounded] "i"(ROUNDED), [numbers] "i"(NUMBERS)                   \
            : "r1", "r2", "r3", "r12", "memory", "cc");                                            \
    }
/* clang-format on */
#else
#define EDGEC_DEPTHWISE_LINE(NAME, TAPS, UNROLLED, SHIFT, ROUNDED, NUMBERS)                        \
    EDGEC_INLINE void NAME(const edgec_depthwise_line_task_t *task) {                              \
        for (int32_t c = 0; c < task->end - task->y; c++) {                                        \
            task->y[c] = edgec_depthwise_line_code(task, c, TAPS, SHIFT, ROUNDED, NUMBERS);        \
        }                                                                                          \
    }

/* The code of a channel. */
EDGEC_INLINE int8_t edgec_depthwise_line_code(const edgec_depthwise_line_task_t *task,
                                              int32_t channel, int32_t taps, int32_t shift,
                                              int32_t rounded, int32_t numbers) {
    const int32_t own = channel % EDGEC_DEPTHWISE_LINE_CHANNELS;
    const int32_t more = (numbers == 1) ? 4 : numbers / 2;
    const int32_t bytes = EDGEC_DEPTHWISE_LINE_CHANNELS * (taps + 8 + more);
    const int8_t *const four = task->stream + channel / EDGEC_DEPTHWISE_LINE_CHANNELS * bytes;
    const int8_t *const weights = four + 16;
    const int8_t *const multipliers = weights + EDGEC_DEPTHWISE_LINE_CHANNELS * taps;
    int32_t sum = (int32_t)edgec_word_at(four + 4 * own);
    for (int32_t tap = 0; tap < taps; tap++) {
        const int32_t in_pair = own / 2 * 4 + own % 2 + tap % 2 * 2;
        const int32_t in_four = (tap == taps - 1 && taps % 2 == 1) ? own : in_pair;
        sum += task->x[tap * task->step + channel] * weights[tap / 2 * 8 + in_four];
    }
    const int32_t multiplier = (int32_t)edgec_word_at(multipliers + 4 * own);
    if (numbers == 2) {
        const int32_t before = multipliers[16 + own];
        return edgec_requantize_twice_s8(sum, multiplier, task->offset * (1 << before), before + 1,
                                         INT8_MIN, INT8_MAX);
    }
    const int8_t *const offsets = multipliers + 16;
    const int32_t offset = numbers == 1 ? (int32_t)edgec_word_at(offsets + 4 * own) : task->offset;
    return edgec_high_code(sum, multiplier, offset, shift, rounded);
}
#endif

/* A layer: the function of its form, and its sizes. */
typedef struct edgec_depthwise_line_layer {
    void (*fours)(const edgec_depthwise_line_task_t *task);
    int32_t step; /* bytes of x from tap to tap */
    int32_t back;
    int32_t row;    /* bytes of x from the windows of a row to those of the next */
    int32_t column; /* bytes of x from window to window */
    int32_t bytes;  /* of the stream before the last channels, which are no four */
    int16_t channels;
    int16_t out_height;
    int16_t out_width;
    int16_t shift; /* after the high word of the product */
} edgec_depthwise_line_layer_t;

/* All outputs of a layer.
 * Order: pixels in raster order, in each of them four channels at a time; the last four may have
 * been computed before. */
EDGEC_SEPARATE void edgec_depthwise_line(const int8_t *x, int8_t *y,
                                         const edgec_residual_params_t *params,
                                         const edgec_depthwise_line_layer_t *layer) {
    const int32_t channels = layer->channels;
    const int32_t before = channels - EDGEC_DEPTHWISE_LINE_CHANNELS;
    edgec_depthwise_line_task_t task; /* no initializer: gcc would clear it first */
    task.step = layer->step;
    task.offset = edgec_high_offset(params->y_zero_point, layer->shift);
    task.back = layer->back;
    for (int32_t oy = 0; oy < layer->out_height; oy++, x += layer->row) {
        const int8_t *window = x;
        for (int32_t ox = 0; ox < layer->out_width; ox++, window += layer->column, y += channels) {
            task.x = window;
            task.stream = params->weights;
            task.y = y;
            task.end = y + channels - channels % EDGEC_DEPTHWISE_LINE_CHANNELS;
            layer->fours(&task);
            if (channels % EDGEC_DEPTHWISE_LINE_CHANNELS != 0) {
                task.x = window + before;
                task.stream = params->weights + layer->bytes;
                task.y = y + before;
                task.end = y + channels;
                layer->fours(&task);
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
