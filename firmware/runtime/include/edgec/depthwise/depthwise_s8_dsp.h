/* Depthwise convolutions of windows of any size with the DSP extension: an accumulator tile of one
 * channel and four to six neighbouring outputs of a row, requantized in registers.
 *
 * Four channels of some rows at a time are unpacked from NHWC: a word holds one channel of two
 * neighbouring pixels, less the zero point.  Padding is stored, too.  A step of a row of the window
 * is two of its taps, by dual products with the words in which an even window begins; windows that
 * begin with the second half of a word, of stride 1 only, take the same words by the taps before.
 *
 *     planes   [rows][words][4 channels]
 *     stream   [channels]: weights as below, with bytes up to a whole word; the bias, doubled where
 *              sums are rounded twice; the multiplier; where channels have offsets of their own,
 *              the offset, where they have shifts of their own, the shift less 1
 *
 * Weights of stride 1 are rows of 2 * STEPS bytes: a zero, the taps, one more zero where their
 * number is even; after all rows two zeros.  A step at byte i takes the pairs (i + 1, i + 2) and
 * (i, i + 1).  Those of stride 2 are rows of 2 * STEPS bytes: the taps, a zero where their number
 * is odd; of each four of all these bytes the two in the middle change places.
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_S8_DSP_H
#define EDGEC_DEPTHWISE_DEPTHWISE_S8_DSP_H

#include "edgec/arithmetic/high_word.h"
#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/params.h"
#include "edgec/arithmetic/tflite.h"
#include "edgec/arithmetic/tflite_s16.h"
#include "edgec/depthwise/unpacked_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of a row of the window, and the one of stride 1 that has one tap, if there is one. */
#define EDGEC_DEPTHWISE_DSP_STEPS(TAPS, STRIDE) ((STRIDE) == 1 ? (TAPS) / 2 + 1 : ((TAPS) + 1) / 2)
#define EDGEC_DEPTHWISE_DSP_HALF(TAPS, STRIDE) ((STRIDE) == 1 && (TAPS) % 2 == 0 ? (TAPS) / 2 : -1)

/* Bytes of the weights of a channel, as words for all pairs of a step. */
#define EDGEC_DEPTHWISE_DSP_ROOM(TAPS, ROWS, STRIDE)                                               \
    (((ROWS) * EDGEC_DEPTHWISE_DSP_STEPS(TAPS, STRIDE) + 1) / 2 * ((STRIDE) == 1 ? 16 : 8))

/* Channels that are unpacked together: words of a place in the planes. */
#define EDGEC_DEPTHWISE_DSP_CHANNELS 4

/* Rows of an image that are unpacked. */
typedef struct edgec_depthwise_dsp_image {
    int32_t pixel;    /* bytes of x from pixel to pixel */
    int32_t row;      /* bytes of x from row to row */
    uint32_t zero;    /* the code of zero, negated, twice */
    uint32_t padding; /* four times that code */
    int32_t lead;     /* 1: the first pixel of a row is the second one of its word */
    int32_t pairs;    /* words of two pixels after that */
    int32_t tail;     /* 1: the last pixel of a row is the first one of its word */
    int32_t plane;    /* bytes of the planes from row to row */
    int32_t rows;     /* 1 or more */
} edgec_depthwise_dsp_image_t;

/* Operands of a function, all of the first channel. */
typedef struct edgec_depthwise_dsp_task {
    edgec_pair_t *weights; /* room for those of a channel, if rows of taps are a loop */
    int32_t offset; /* of all channels; where they have shifts of their own, with a shift of 1 */
    int32_t pixel;  /* bytes of y from pixel to pixel */
    int8_t *y;
    const edgec_pair_t *planes; /* the first window */
    int32_t down;               /* bytes of the planes from a row of windows to the next */
    int32_t row;                /* bytes of y from row to row */
    int32_t tap;                /* bytes of the planes from a row of taps to the next */
    int32_t back;               /* bytes of the planes from the last row of taps, where their number
                                 * is compiled in, or the one after it, to the next band */
    int32_t width;              /* outputs of a row */
    int32_t rows;               /* of outputs */
    const int8_t *stream;
    int32_t channels;
} edgec_depthwise_dsp_task_t;

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Stores the pixels in registers A and B at r1; zero point in r4. */
#define EDGEC_DEPTHWISE_DSP_PUT(A, B)                                                              \
    "pkhbt r8, " A ", " B ", lsl #16\n"                                                            \
    "pkhtb r9, " B ", " A ", asr #16\n"                                                            \
    "sxtab16 r10, r4, r8\n"                                                                        \
    "sxtab16 r8, r4, r8, ror #8\n"                                                                 \
    "sxtab16 r11, r4, r9\n"                                                                        \
    "str r8, [r1, #4]\n"                                                                           \
    "sxtab16 r9, r4, r9, ror #8\n"                                                                 \
    "str r11, [r1, #8]\n"                                                                          \
    "str r9, [r1, #12]\n"                                                                          \
    "str r10, [r1], #16\n"

/* Unpacks rows of four channels.  Two words a turn.  Registers: bytes to the next pixel in r2, to
 * the third one in r3, words that are left, less 2, in r5.  The stack: the beginning of a row in x
 * and in the planes, then the struct from `row` on, without `zero`. */
EDGEC_SEPARATE void edgec_depthwise_dsp_unpack(const int8_t *x, edgec_pair_t *planes,
                                           const edgec_depthwise_dsp_image_t *image) {
    register const int8_t *from __asm__("r0") = x;
    register edgec_pair_t *to __asm__("r1") = planes;
    register const edgec_depthwise_dsp_image_t *sizes __asm__("r2") = image;
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "ldm r2, {r2-r10}\n"
        "push {r0, r1, r3, r5-r10}\n"
        "add r3, r2, r2, lsl #1\n"
        "1:\n"
        "ldrd r6, r5, [sp, #16]\n"
        "cbz r6, 2f\n"
        "ldr r6, [sp, #12]\n"
        "ldr r7, [r0]\n"
        "add r0, r0, r2\n"
        EDGEC_DEPTHWISE_DSP_PUT("r6", "r7")
        "2:\n"
        "subs r5, r5, #2\n"
        "blt 4f\n"
        ".p2align 2\n"
        "3:\n"
        "ldr r6, [r0]\n"
        "ldr r7, [r0, r2]\n"
        "ldr r12, [r0, r2, lsl #1]\n"
        "ldr lr, [r0, r3]\n"
        "add r0, r0, r2, lsl #2\n"
        EDGEC_DEPTHWISE_DSP_PUT("r6", "r7")
        EDGEC_DEPTHWISE_DSP_PUT("r12", "lr")
        "subs r5, r5, #2\n"
        "bge 3b\n"
        "4:\n"
        "cmn r5, #2\n"
        "beq 5f\n"
        "ldr r6, [r0]\n"
        "ldr r7, [r0, r2]\n"
        "add r0, r0, r2, lsl #1\n"
        EDGEC_DEPTHWISE_DSP_PUT("r6", "r7")
        "5:\n"
        "ldr r5, [sp, #24]\n"
        "cbz r5, 6f\n"
        "ldr r7, [sp, #12]\n"
        "ldr r6, [r0]\n"
        EDGEC_DEPTHWISE_DSP_PUT("r6", "r7")
        "6:\n"
        "ldrd r0, r1, [sp]\n"
        "ldr r5, [sp, #8]\n"
        "ldrd r6, r7, [sp, #28]\n"
        "add r0, r0, r5\n"
        "add r1, r1, r6\n"
        "subs r7, r7, #1\n"
        "strd r0, r1, [sp]\n"
        "str r7, [sp, #32]\n"
        "bne 1b\n"
        "add sp, sp, #36\n"
        "pop {r4-r11, lr}\n"
        : "+r"(from), "+r"(to), "+r"(sizes)
        :
        : "r3", "r12", "memory", "cc");
}

/* Registers of the function below: planes in r0, y or, in a loop, weights in r1, two pairs of
 * weights in r2 and r3, sums from r4 on, words of pixels from r9 or r10 on.  The stack holds the
 * weights of the channel, unless rows of taps are a loop, and after these, `room` bytes,
 *
 *     sp + 0     the struct; stream, y and planes go on from channel to channel
 *     sp + 52    the bias, the multiplier and the offset of the channel
 *     sp + 64    y, and outputs that are left in the row
 *     sp + 72    the first window of the row, rows that are left, y of the row
 *     sp + 84    the shift of the channel less 1
 *
 * While instructions are written, `edgec_step` is the number of the step in its row of taps,
 * `edgec_pairs` the offset of its weights, and `edgec_first` 1 in the very first step, in which all
 * sums begin with the bias, which the last of them holds. */
#define EDGEC_DEPTHWISE_DSP_SUM(SUM, LAST, WORD, PAIR)                                             \
    ".if edgec_first\n"                                                                            \
    "smlad " SUM ", " WORD ", " PAIR ", " LAST "\n"                                                \
    ".else\n"                                                                                      \
    "smlad " SUM ", " WORD ", " PAIR ", " SUM "\n"                                                 \
    ".endif\n"
#define EDGEC_DEPTHWISE_DSP_NEXT(BYTES)                                                            \
    ".set edgec_first, 0\n"                                                                        \
    ".set edgec_step, edgec_step + 1\n"                                                            \
    ".set edgec_pairs, edgec_pairs + " BYTES "\n"

#define EDGEC_DEPTHWISE_DSP_PAIR(TO, BYTES)                                                        \
    ".if %c[looped]\n"                                                                             \
    "ldr " TO ", [r1, #(edgec_pairs + " BYTES ")]\n"                                               \
    ".else\n"                                                                                      \
    "ldr " TO ", [sp, #(edgec_pairs + " BYTES ")]\n"                                               \
    ".endif\n"

/* A step of six windows of stride 1; the last one of an even number of taps has one tap, of the
 * second, fourth and sixth window. */
#define EDGEC_DEPTHWISE_DSP_STEP_1_6(A, B, C)                                                      \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_PAIR("r2", "0")                                                            \
    ".endif\n"                                                                                     \
    EDGEC_DEPTHWISE_DSP_PAIR("r3", "4")                                                            \
    "ldr " C ", [r0, #(16 * edgec_step + 32)]\n"                                                   \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_SUM("r4", "r9", A, "r2")                                                   \
    ".endif\n"                                                                                     \
    EDGEC_DEPTHWISE_DSP_SUM("r5", "r9", A, "r3")                                                   \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_SUM("r6", "r9", B, "r2")                                                   \
    ".endif\n"                                                                                     \
    EDGEC_DEPTHWISE_DSP_SUM("r7", "r9", B, "r3")                                                   \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_SUM("r8", "r9", C, "r2")                                                   \
    ".endif\n"                                                                                     \
    "smlad r9, " C ", r3, r9\n"                                                                    \
    EDGEC_DEPTHWISE_DSP_NEXT("8")
#define EDGEC_DEPTHWISE_DSP_ROW_1_6                                                                \
    "ldr r10, [r0]\n"                                                                              \
    "ldr r11, [r0, #16]\n"                                                                         \
    ".rept %c[steps] / 3\n"                                                                        \
    EDGEC_DEPTHWISE_DSP_STEP_1_6("r10", "r11", "r12")                                              \
    EDGEC_DEPTHWISE_DSP_STEP_1_6("r11", "r12", "r10")                                              \
    EDGEC_DEPTHWISE_DSP_STEP_1_6("r12", "r10", "r11")                                              \
    ".endr\n"                                                                                      \
    ".if %c[steps] %% 3 > 0\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_1_6("r10", "r11", "r12")                                              \
    ".endif\n"                                                                                     \
    ".if %c[steps] %% 3 > 1\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_1_6("r11", "r12", "r10")                                              \
    ".endif\n"

/* The same of four windows. */
#define EDGEC_DEPTHWISE_DSP_STEP_1_4(A, B)                                                         \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_PAIR("r2", "0")                                                            \
    ".endif\n"                                                                                     \
    EDGEC_DEPTHWISE_DSP_PAIR("r3", "4")                                                            \
    "ldr " B ", [r0, #(16 * edgec_step + 16)]\n"                                                   \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_SUM("r4", "r7", A, "r2")                                                   \
    ".endif\n"                                                                                     \
    EDGEC_DEPTHWISE_DSP_SUM("r5", "r7", A, "r3")                                                   \
    ".if edgec_step - %c[half]\n"                                                                  \
    EDGEC_DEPTHWISE_DSP_SUM("r6", "r7", B, "r2")                                                   \
    ".endif\n"                                                                                     \
    "smlad r7, " B ", r3, r7\n"                                                                    \
    EDGEC_DEPTHWISE_DSP_NEXT("8")
#define EDGEC_DEPTHWISE_DSP_ROW_1_4                                                                \
    "ldr r10, [r0]\n"                                                                              \
    ".rept %c[steps] / 2\n"                                                                        \
    EDGEC_DEPTHWISE_DSP_STEP_1_4("r10", "r11")                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_1_4("r11", "r10")                                                     \
    ".endr\n"                                                                                      \
    ".if %c[steps] %% 2\n"                                                                         \
    EDGEC_DEPTHWISE_DSP_STEP_1_4("r10", "r11")                                                     \
    ".endif\n"

/* A step of five windows of stride 2. */
#define EDGEC_DEPTHWISE_DSP_STEP_2_5(A, B, C, D, E)                                                \
    EDGEC_DEPTHWISE_DSP_PAIR("r2", "0")                                                            \
    "ldr " E ", [r0, #(16 * edgec_step + 64)]\n"                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r4", "r8", A, "r2")                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r5", "r8", B, "r2")                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r6", "r8", C, "r2")                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r7", "r8", D, "r2")                                                   \
    "smlad r8, " E ", r2, r8\n"                                                                    \
    EDGEC_DEPTHWISE_DSP_NEXT("4")
#define EDGEC_DEPTHWISE_DSP_ROW_2_5                                                                \
    "ldr r9, [r0]\n"                                                                               \
    "ldr r10, [r0, #16]\n"                                                                         \
    "ldr r11, [r0, #32]\n"                                                                         \
    "ldr r12, [r0, #48]\n"                                                                         \
    ".rept %c[steps] / 5\n"                                                                        \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r9", "r10", "r11", "r12", "lr")                                  \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r10", "r11", "r12", "lr", "r9")                                  \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r11", "r12", "lr", "r9", "r10")                                  \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r12", "lr", "r9", "r10", "r11")                                  \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("lr", "r9", "r10", "r11", "r12")                                  \
    ".endr\n"                                                                                      \
    ".if %c[steps] %% 5 > 0\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r9", "r10", "r11", "r12", "lr")                                  \
    ".endif\n"                                                                                     \
    ".if %c[steps] %% 5 > 1\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r10", "r11", "r12", "lr", "r9")                                  \
    ".endif\n"                                                                                     \
    ".if %c[steps] %% 5 > 2\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r11", "r12", "lr", "r9", "r10")                                  \
    ".endif\n"                                                                                     \
    ".if %c[steps] %% 5 > 3\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_5("r12", "lr", "r9", "r10", "r11")                                  \
    ".endif\n"

/* The same of four windows. */
#define EDGEC_DEPTHWISE_DSP_STEP_2_4(A, B, C, D)                                                   \
    EDGEC_DEPTHWISE_DSP_PAIR("r2", "0")                                                            \
    "ldr " D ", [r0, #(16 * edgec_step + 48)]\n"                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r4", "r7", A, "r2")                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r5", "r7", B, "r2")                                                   \
    EDGEC_DEPTHWISE_DSP_SUM("r6", "r7", C, "r2")                                                   \
    "smlad r7, " D ", r2, r7\n"                                                                    \
    EDGEC_DEPTHWISE_DSP_NEXT("4")
#define EDGEC_DEPTHWISE_DSP_ROW_2_4                                                                \
    "ldr r9, [r0]\n"                                                                               \
    "ldr r10, [r0, #16]\n"                                                                         \
    "ldr r11, [r0, #32]\n"                                                                         \
    ".rept %c[steps] / 4\n"                                                                        \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r9", "r10", "r11", "r12")                                        \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r10", "r11", "r12", "r9")                                        \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r11", "r12", "r9", "r10")                                        \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r12", "r9", "r10", "r11")                                        \
    ".endr\n"                                                                                      \
    ".if %c[steps] %% 4 > 0\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r9", "r10", "r11", "r12")                                        \
    ".endif\n"                                                                                     \
    ".if %c[steps] %% 4 > 1\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r10", "r11", "r12", "r9")                                        \
    ".endif\n"                                                                                     \
    ".if %c[steps] %% 4 > 2\n"                                                                     \
    EDGEC_DEPTHWISE_DSP_STEP_2_4("r11", "r12", "r9", "r10")                                        \
    ".endif\n"

#define EDGEC_DEPTHWISE_DSP_ROW                                                                    \
    ".set edgec_step, 0\n"                                                                         \
    ".if %c[stride] == 1 && %c[outputs] == 6\n"                                                    \
    EDGEC_DEPTHWISE_DSP_ROW_1_6                                                                    \
    ".elseif %c[stride] == 1\n"                                                                    \
    EDGEC_DEPTHWISE_DSP_ROW_1_4                                                                    \
    ".elseif %c[outputs] == 5\n"                                                                   \
    EDGEC_DEPTHWISE_DSP_ROW_2_5                                                                    \
    ".else\n"                                                                                      \
    EDGEC_DEPTHWISE_DSP_ROW_2_4                                                                    \
    ".endif\n"

/* A pair of weights; twice as large where sums are rounded twice, whose products are doubled. */
#define EDGEC_DEPTHWISE_DSP_DOUBLE(PAIR)                                                           \
    ".if %c[numbers] == 2\n"                                                                       \
    "sadd16 " PAIR ", " PAIR ", " PAIR "\n"                                                        \
    ".endif\n"

/* The weights of a channel, from r0 on, go to r1; two steps a turn. */
#define EDGEC_DEPTHWISE_DSP_WIDEN                                                                  \
    "mov lr, #((%c[rows] * %c[steps] + 1) / 2)\n"                                                  \
    ".if %c[stride] == 1\n"                                                                        \
    "ldr r2, [r0], #4\n"                                                                           \
    "sxtb16 r3, r2\n"                                                                              \
    EDGEC_DEPTHWISE_DSP_DOUBLE("r3")                                                               \
    ".p2align 2\n"                                                                                 \
    "2:\n"                                                                                         \
    "sxtb16 r8, r2, ror #8\n"                                                                      \
    "ldr r2, [r0], #4\n"                                                                           \
    EDGEC_DEPTHWISE_DSP_DOUBLE("r8")                                                               \
    "pkhbt r4, r8, r3\n"                                                                           \
    "pkhbt r5, r3, r8, lsl #16\n"                                                                  \
    "lsr r6, r8, #16\n"                                                                            \
    "pkhtb r7, r8, r3, asr #16\n"                                                                  \
    "sxtb16 r3, r2\n"                                                                              \
    EDGEC_DEPTHWISE_DSP_DOUBLE("r3")                                                               \
    "subs lr, lr, #1\n"                                                                            \
    "pkhbt r6, r6, r3, lsl #16\n"                                                                  \
    "stm r1!, {r4-r7}\n"                                                                           \
    "bne 2b\n"                                                                                     \
    ".if (%c[rows] * %c[steps]) & 1\n"                                                             \
    "sub r0, r0, #4\n"                                                                             \
    ".endif\n"                                                                                     \
    ".else\n"                                                                                      \
    ".p2align 2\n"                                                                                 \
    "2:\n"                                                                                         \
    "ldr r2, [r0], #4\n"                                                                           \
    "subs lr, lr, #1\n"                                                                            \
    "sxtb16 r3, r2\n"                                                                              \
    "sxtb16 r4, r2, ror #8\n"                                                                      \
    EDGEC_DEPTHWISE_DSP_DOUBLE("r3")                                                               \
    EDGEC_DEPTHWISE_DSP_DOUBLE("r4")                                                               \
    "stm r1!, {r3, r4}\n"                                                                          \
    "bne 2b\n"                                                                                     \
    ".endif\n"

/* Sums whose channels have shifts of their own: by the multiplier in r2, with the offset in r3, and
 * the shift less 1, in lr.  Where they are rounded twice, the sum is twice as large. */
#define EDGEC_DEPTHWISE_DSP_SHIFTED(SUM)                                                           \
    ".if %c[numbers] == 2\n"                                                                       \
    "add r10, r3, " SUM ", asr #31\n"                                                              \
    "smmlar " SUM ", " SUM ", r2, r10\n"                                                           \
    ".else\n"                                                                                      \
    "smmla " SUM ", " SUM ", r2, r3\n"                                                             \
    ".endif\n"                                                                                     \
    "asr " SUM ", " SUM ", lr\n"

/* The code of the result of EDGEC_HIGH_WORD: int8, or int16 from LOW on, of which 0, -32767 and -32768
 * are served; lr is 1 where it is -32767. */
#define EDGEC_DEPTHWISE_DSP_CODE(SUM)                                                              \
    ".if %c[low] == -128\n"                                                                        \
    EDGEC_HIGH_CODE(SUM)                                                                           \
    ".elseif %c[low] == 0\n"                                                                       \
    EDGEC_DEPTHWISE_DSP_BOUND("usat", "15", SUM)                                                   \
    ".else\n"                                                                                      \
    EDGEC_DEPTHWISE_DSP_BOUND("ssat", "16", SUM)                                                   \
    ".if %c[low] == -32767\n"                                                                      \
    "qsub16 " SUM ", " SUM ", lr\n"                                                                \
    "add " SUM ", " SUM ", #1\n"                                                                   \
    ".endif\n"                                                                                     \
    ".endif\n"
#define EDGEC_DEPTHWISE_DSP_BOUND(OPERATION, BITS, SUM)                                            \
    ".if %c[shift]\n"                                                                              \
    OPERATION " " SUM ", #" BITS ", " SUM ", asr #%c[shift]\n"                                     \
    ".else\n"                                                                                      \
    OPERATION " " SUM ", #" BITS ", " SUM "\n"                                                     \
    ".endif\n"
#define EDGEC_DEPTHWISE_DSP_PUT_CODE(SUM, PLACE)                                                   \
    ".if %c[low] == -128\n"                                                                        \
    "strb " SUM ", " PLACE "\n"                                                                    \
    ".else\n"                                                                                      \
    "strh " SUM ", " PLACE "\n"                                                                    \
    ".endif\n"

/* Stores the code of a sum, output NUMBER of a band, at y, r1; pixels are PITCH bytes apart or, where
 * that is 0, r10, and y goes on with each.  The other form ends at the last output of the row, of
 * r12 that are left. */
#define EDGEC_DEPTHWISE_DSP_STORE(SUM, NUMBER)                                                     \
    ".if %c[pitch]\n"                                                                              \
    EDGEC_DEPTHWISE_DSP_PUT_CODE(SUM, "[r1, #(" NUMBER " * %c[pitch])]")                           \
    ".else\n"                                                                                      \
    EDGEC_DEPTHWISE_DSP_PUT_CODE(SUM, "[r1]")                                                      \
    "add r1, r1, r10\n"                                                                            \
    ".endif\n"
#define EDGEC_DEPTHWISE_DSP_STORE_ONE(SUM)                                                         \
    EDGEC_DEPTHWISE_DSP_CODE(SUM)                                                                  \
    "subs r12, r12, #1\n"                                                                          \
    EDGEC_DEPTHWISE_DSP_PUT_CODE(SUM, "[r1]")                                                      \
    "beq 6f\n"                                                                                     \
    "add r1, r1, r10\n"

/* Defines NAME(task), which stores outputs of some channels.
 *
 *     y = saturated((high(sum, multiplier) + offset) >> SHIFT)
 *
 * TAPS: columns of the window.  ROWS: of the window.  LOOPED: 1 where rows of taps are a loop.
 * STRIDE: of columns, 1 or 2.  OUTPUTS: of a band, 6 or 4 by 1, 5 or 4 by 2.  ROUNDED: 1 where the
 * high word of the product is rounded.  NUMBERS: 0; 1 where each channel has an offset; 2 where each
 * has a shift, and codes are those of edgec_requantize_twice_s8; 3 where they are those of
 * edgec_tflite_s16_high, with multipliers 2^16 times as large: of both SHIFT is 1, and the shift of a
 * channel, less 1, comes before it.  PITCH: bytes of y from pixel to pixel, 0: those of the task.
 * LOW: the least code: -128 of int8; 0, -32767 or -32768 of int16, with NUMBERS 0 or 3. */
#define EDGEC_DEPTHWISE_DSP_ROWS(NAME, TAPS, ROWS, LOOPED, STRIDE, OUTPUTS, SHIFT, ROUNDED,        \
                                 NUMBERS, PITCH, LOW)                                                   \
    EDGEC_SEPARATE void NAME(const edgec_depthwise_dsp_task_t *task) {                             \
        register const edgec_depthwise_dsp_task_t *t __asm__("r0") = task;                         \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "sub sp, sp, #(%c[room] + 88)\n"                                                       \
            "ldm r0, {r1-r12, lr}\n"                                                               \
            "add r0, sp, #%c[room]\n"                                                              \
 "stm r0, {r1-r12, lr}\n"                                                                          \
            "1:\n"                                                                                 \
            "ldr r0, [sp, #(%c[room] + 44)]\n"                                                     \
            ".if %c[looped]\n"                                                                     \
 "ldr r1, [sp]\n"                                                                                  \
 ".else\n"                                                                                         \
 "mov r1, sp\n"                                                                                    \
 ".endif\n"                                                                                        \
            EDGEC_DEPTHWISE_DSP_WIDEN                                                              \
            ".if %c[numbers] == 0\n"                                                               \
            "ldm r0!, {r2, r3}\n"                                                                  \
            "ldr r4, [sp, #(%c[room] + 4)]\n"                                                      \
            ".elseif %c[numbers] == 1\n"                                                           \
            "ldm r0!, {r2-r4}\n"                                                                   \
            ".else\n"                                                                              \
            "ldm r0!, {r2, r3, r5}\n"                                                              \
            "ldr r4, [sp, #(%c[room] + 4)]\n"                                                      \
            "str r5, [sp, #(%c[room] + 84)]\n"                                                     \
            "lsl r4, r4, r5\n"                                                                     \
            ".endif\n"                                                                             \
            "str r0, [sp, #(%c[room] + 44)]\n"                                                     \
            "strd r2, r3, [sp, #(%c[room] + 52)]\n"                                                \
            "str r4, [sp, #(%c[room] + 60)]\n"                                                     \
            "ldr r1, [sp, #(%c[room] + 12)]\n"                                                     \
            "ldr r0, [sp, #(%c[room] + 16)]\n"                                                     \
            "ldr r2, [sp, #(%c[room] + 40)]\n"                                                     \
            "strd r0, r2, [sp, #(%c[room] + 72)]\n"                                                \
            "str r1, [sp, #(%c[room] + 80)]\n"                                                     \
            "2:\n"                                                                                 \
            "ldr r12, [sp, #(%c[room] + 36)]\n"                                                    \
            "strd r1, r12, [sp, #(%c[room] + 64)]\n"                                               \
            ".p2align 2\n"                                                                         \
            "3:\n"                                                                                 \
            ".set edgec_pairs, 0\n"                                                                \
            ".if %c[looped]\n"                                                                     \
            "ldr r1, [sp]\n"                                                                       \
            ".set edgec_first, 0\n"                                                                \
            "ldr r4, [sp, #(%c[room] + 52)]\n"                                                     \
            ".if %c[stride] == 1\n"                                                                \
            "mov lr, #%c[rows]\n"                                                                  \
            ".else\n"                                                                              \
            "mov r3, #%c[rows]\n"                                                                  \
            ".endif\n"                                                                             \
            "mov r5, r4\n"                                                                         \
            "mov r6, r4\n"                                                                         \
            "mov r7, r4\n"                                                                         \
            ".if %c[outputs] > 4\n"                                                                \
            "mov r8, r4\n"                                                                         \
            ".endif\n"                                                                             \
            ".if %c[outputs] > 5\n"                                                                \
            "mov r9, r4\n"                                                                         \
            ".endif\n"                                                                             \
            ".p2align 2\n"                                                                         \
            "4:\n"                                                                                 \
            EDGEC_DEPTHWISE_DSP_ROW                                                                \
            "ldr r2, [sp, #(%c[room] + 28)]\n"                                                     \
            "add r1, r1, #edgec_pairs\n"                                                           \
            ".set edgec_pairs, 0\n"                                                                \
            "add r0, r0, r2\n"                                                                     \
            ".if %c[stride] == 1\n"                                                                \
            "subs lr, lr, #1\n"                                                                    \
            ".else\n"                                                                              \
            "subs r3, r3, #1\n"                                                                    \
            ".endif\n"                                                                             \
            "bne 4b\n"                                                                             \
            ".else\n"                                                                              \
            ".set edgec_first, 1\n"                                                                \
            ".if %c[outputs] == 6\n"                                                               \
            "ldr r9, [sp, #(%c[room] + 52)]\n"                                                     \
            ".elseif %c[outputs] == 5\n"                                                           \
            "ldr r8, [sp, #(%c[room] + 52)]\n"                                                     \
            ".else\n"                                                                              \
            "ldr r7, [sp, #(%c[room] + 52)]\n"                                                     \
            ".endif\n"                                                                             \
            ".if %c[rows] > 1\n"                                                                   \
            ".if %c[stride] == 1\n"                                                                \
            "ldr lr, [sp, #(%c[room] + 28)]\n"                                                     \
            ".else\n"                                                                              \
            "ldr r3, [sp, #(%c[room] + 28)]\n"                                                     \
            ".endif\n"                                                                             \
            ".endif\n"                                                                             \
            EDGEC_DEPTHWISE_DSP_ROW                                                                \
            ".rept %c[rows] - 1\n"                                                                 \
            ".if %c[stride] == 1\n"                                                                \
            "add r0, r0, lr\n"                                                                     \
            ".else\n"                                                                              \
            "add r0, r0, r3\n"                                                                     \
            ".endif\n"                                                                             \
            EDGEC_DEPTHWISE_DSP_ROW                                                                \
            ".endr\n"                                                                              \
            ".endif\n"                                                                             \
            "ldrd r2, r3, [sp, #(%c[room] + 56)]\n"                                                \
            ".if %c[numbers] > 1\n"                                                                \
            "ldr lr, [sp, #(%c[room] + 84)]\n"                                                     \
            EDGEC_DEPTHWISE_DSP_SHIFTED("r4")                                                        \
            EDGEC_DEPTHWISE_DSP_SHIFTED("r5")                                                        \
            EDGEC_DEPTHWISE_DSP_SHIFTED("r6")                                                        \
            EDGEC_DEPTHWISE_DSP_SHIFTED("r7")                                                        \
            ".if %c[outputs] > 4\n"                                                                \
            EDGEC_DEPTHWISE_DSP_SHIFTED("r8")                                                        \
            ".endif\n"                                                                             \
            ".if %c[outputs] > 5\n"                                                                \
            EDGEC_DEPTHWISE_DSP_SHIFTED("r9")                                                        \
            ".endif\n"                                                                             \
            ".endif\n"                                                                             \
            ".if %c[pitch] == 0\n"                                                                 \
            "ldr r10, [sp, #(%c[room] + 8)]\n"                                                     \
            ".endif\n"                                                                             \
            ".if %c[looped]\n"                                                                     \
 "ldr r1, [sp, #(%c[room] + 64)]\n"                                                                \
 ".endif\n"                                                                                        \
            "ldr r12, [sp, #(%c[room] + 68)]\n"                                                    \
            "ldr r11, [sp, #(%c[room] + 32)]\n"                                                    \
            ".if %c[numbers] < 2\n"                                                                \
            EDGEC_HIGH_WORD("r4")                                                                  \
            EDGEC_HIGH_WORD("r5")                                                                  \
            EDGEC_HIGH_WORD("r6")                                                                  \
            EDGEC_HIGH_WORD("r7")                                                                  \
            ".if %c[outputs] > 4\n"                                                                \
            EDGEC_HIGH_WORD("r8")                                                                  \
            ".endif\n"                                                                             \
            ".if %c[outputs] > 5\n"                                                                \
            EDGEC_HIGH_WORD("r9")                                                                  \
            ".endif\n"                                                                             \
            ".endif\n"                                                                             \
            ".if %c[low] == -32767\n"                                                              \
            "mov lr, #1\n"                                                                         \
            ".endif\n"                                                                             \
            "add r0, r0, r11\n"                                                                    \
            "subs r12, r12, #%c[outputs]\n"                                                        \
            "blt 5f\n"                                                                             \
            EDGEC_DEPTHWISE_DSP_CODE("r4")                                                         \
            EDGEC_DEPTHWISE_DSP_CODE("r5")                                                         \
            EDGEC_DEPTHWISE_DSP_STORE("r4", "0")                                                   \
            EDGEC_DEPTHWISE_DSP_CODE("r6")                                                         \
            EDGEC_DEPTHWISE_DSP_STORE("r5", "1")                                                   \
            EDGEC_DEPTHWISE_DSP_CODE("r7")                                                         \
            EDGEC_DEPTHWISE_DSP_STORE("r6", "2")                                                   \
            ".if %c[outputs] > 4\n"                                                                \
            EDGEC_DEPTHWISE_DSP_CODE("r8")                                                         \
            ".endif\n"                                                                             \
            EDGEC_DEPTHWISE_DSP_STORE("r7", "3")                                                   \
            ".if %c[outputs] > 5\n"                                                                \
            EDGEC_DEPTHWISE_DSP_CODE("r9")                                                         \
            ".endif\n"                                                                             \
            ".if %c[outputs] > 4\n"                                                                \
            EDGEC_DEPTHWISE_DSP_STORE("r8", "4")                                                   \
            ".endif\n"                                                                             \
            ".if %c[outputs] > 5\n"                                                                \
            EDGEC_DEPTHWISE_DSP_STORE("r9", "5")                                                   \
            ".endif\n"                                                                             \
            ".if %c[pitch]\n"                                                                      \
            "add r1, r1, #(%c[outputs] * %c[pitch])\n"                                             \
            ".endif\n"                                                                             \
            ".if %c[looped]\n"                                                                     \
 "strd r1, r12, [sp, #(%c[room] + 64)]\n"                                                          \
 ".else\n"                                                                                         \
 "str r12, [sp, #(%c[room] + 68)]\n"                                                               \
 ".endif\n"                                                                                        \
            "bne 3b\n"                                                                             \
            "b 6f\n"                                                                               \
            "5:\n"                                                                                 \
            "add r12, r12, #%c[outputs]\n"                                                         \
            ".if %c[pitch]\n"                                                                      \
            "ldr r10, [sp, #(%c[room] + 8)]\n"                                                     \
            ".endif\n"                                                                             \
            EDGEC_DEPTHWISE_DSP_STORE_ONE("r4")                                                    \
            EDGEC_DEPTHWISE_DSP_STORE_ONE("r5")                                                    \
            EDGEC_DEPTHWISE_DSP_STORE_ONE("r6")                                                    \
            ".if %c[outputs] > 4\n"                                                                \
            EDGEC_DEPTHWISE_DSP_STORE_ONE("r7")                                                    \
            ".endif\n"                                                                             \
            ".if %c[outputs] > 5\n"                                                                \
            EDGEC_DEPTHWISE_DSP_STORE_ONE("r8")                                                    \
            ".endif\n"                                                                             \
            "6:\n"                                                                                 \
            "ldr r3, [sp, #(%c[room] + 76)]\n"                                                     \
            "subs r3, r3, #1\n"                                                                    \
            "beq 7f\n"                                                                             \
            "ldr r11, [sp, #(%c[room] + 20)]\n"                                                    \
            "ldr r2, [sp, #(%c[room] + 24)]\n"                                                     \
            "ldr r0, [sp, #(%c[room] + 72)]\n"                                                     \
            "ldr r1, [sp, #(%c[room] + 80)]\n"                                                     \
            "add r0, r0, r11\n"                                                                    \
            "add r1, r1, r2\n"                                                                     \
            "strd r0, r3, [sp, #(%c[room] + 72)]\n"                                                \
            "str r1, [sp, #(%c[room] + 80)]\n"                                                     \
            "b 2b\n"                                                                               \
            "7:\n"                                                                                 \
            "ldr r0, [sp, #(%c[room] + 12)]\n"                                                     \
            "ldr r1, [sp, #(%c[room] + 16)]\n"                                                     \
            "ldr r2, [sp, #(%c[room] + 48)]\n"                                                     \
            ".if %c[low] == -128\n"                                                                \
            "add r0, r0, #1\n"                                                                     \
            ".else\n"                                                                              \
            "add r0, r0, #2\n"                                                                     \
            ".endif\n"                                                                             \
            "add r1, r1, #4\n"                                                                     \
            "strd r0, r1, [sp, #(%c[room] + 12)]\n"                                                \
            "subs r2, r2, #1\n"                                                                    \
            "str r2, [sp, #(%c[room] + 48)]\n"                                                     \
            "bne 1b\n"                                                                             \
            "add sp, sp, #(%c[room] + 88)\n"                                                       \
            "pop {r4-r11, lr}\n"                                                                   \
            : "+r"(t)                                                                              \
            : [rows] "i"(ROWS), [steps] "i"(EDGEC_DEPTHWISE_DSP_STEPS(TAPS, STRIDE)),              \
              [room] "i"((LOOPED) > 0 ? 0 : EDGEC_DEPTHWISE_DSP_ROOM(TAPS, ROWS, STRIDE)),         \
              [half] "i"(EDGEC_DEPTHWISE_DSP_HALF(TAPS, STRIDE)), [looped] "i"(LOOPED),            \
              [stride] "i"(STRIDE), [outputs] "i"(OUTPUTS), [shift] "i"(SHIFT),                    \
              [rounded] "i"(ROUNDED), [numbers] "i"(NUMBERS), [pitch] "i"(PITCH), [low] "i"(LOW)                   \
            : "r1", "r2", "r3", "r12", "memory", "cc");                                            \
    }
/* clang-format on */
#else
EDGEC_INLINE void edgec_depthwise_dsp_unpack(const int8_t *x, edgec_pair_t *planes,
                                             const edgec_depthwise_dsp_image_t *image) {
    const int32_t zero = -(int32_t)(int16_t)(image->zero & 0xFFFFU);
    const int32_t end = image->lead + 2 * image->pairs + image->tail;
    for (int32_t row = 0; row < image->rows; row++) {
        edgec_pair_t *const to = planes + row * (image->plane / 4);
        for (int32_t i = 0; i < end + image->lead + image->tail; i++) {
            const int32_t at = i - image->lead;
            const int8_t *const pixel = x + row * image->row + at * image->pixel;
            for (int32_t c = 0; c < EDGEC_DEPTHWISE_DSP_CHANNELS; c++) {
                const uint32_t bits =
                    at >= 0 && at < end ? (uint32_t)(pixel[c] - zero) & 0xFFFFU : 0;
                edgec_pair_t *const word = to + i / 2 * EDGEC_DEPTHWISE_DSP_CHANNELS + c;
                *word = i % 2 > 0 ? *word | bits << 16 : bits;
            }
        }
    }
}

#define EDGEC_DEPTHWISE_DSP_ROWS(NAME, TAPS, ROWS, LOOPED, STRIDE, OUTPUTS, SHIFT, ROUNDED,        \
                                 NUMBERS, PITCH, LOW)                                              \
    EDGEC_INLINE void NAME(const edgec_depthwise_dsp_task_t *task) {                               \
        const edgec_depthwise_dsp_form_t form = {                                                  \
            TAPS, ROWS, STRIDE, SHIFT, ROUNDED, NUMBERS, LOW};                                     \
        for (int32_t c = 0; c < task->channels; c++) {                                             \
            edgec_depthwise_dsp_channel(task, c, &form);                                           \
        }                                                                                          \
    }

/* Constants of EDGEC_DEPTHWISE_DSP_ROWS, for its form in C. */
typedef struct edgec_depthwise_dsp_form {
    int32_t taps;
    int32_t rows;
    int32_t stride;
    int32_t shift;
    int32_t rounded;
    int32_t numbers;
    int32_t low;
} edgec_depthwise_dsp_form_t;

/* A weight of a channel of the stream. */
EDGEC_INLINE int32_t edgec_depthwise_dsp_weight(const int8_t *stream, int32_t row, int32_t column,
                                                const edgec_depthwise_dsp_form_t *form) {
    const int32_t i = 2 * EDGEC_DEPTHWISE_DSP_STEPS(form->taps, form->stride) * row + column;
    if (form->stride == 1) {
        return stream[i + 1];
    }
    const int32_t in_four = i % 4;
    return stream[i - in_four + (in_four % 3 == 0 ? in_four : 3 - in_four)];
}

/* The sum of a window whose first word is `planes`, or its second half. */
EDGEC_INLINE int32_t edgec_depthwise_dsp_sum(const edgec_pair_t *planes, int32_t second,
                                             int32_t tap, const int8_t *stream, int32_t bias,
                                             const edgec_depthwise_dsp_form_t *form) {
    int32_t sum = bias;
    for (int32_t ky = 0; ky < form->rows; ky++) {
        for (int32_t kx = 0; kx < form->taps; kx++) {
            const int32_t i = kx + second;
            const edgec_pair_t word = planes[ky * (tap / 4) + i / 2 * EDGEC_DEPTHWISE_DSP_CHANNELS];
            const int32_t pixel = (int16_t)((i % 2 > 0 ? word >> 16 : word) & 0xFFFFU);
            sum += pixel * edgec_depthwise_dsp_weight(stream, ky, kx, form);
        }
    }
    return sum;
}

/* The code of a sum; `numbers`: the multiplier of the channel, and what follows it. */
EDGEC_INLINE int8_t edgec_depthwise_dsp_code(const edgec_depthwise_dsp_task_t *task,
                                             const int8_t *numbers, int32_t sum,
                                             const edgec_depthwise_dsp_form_t *form) {
    const int32_t multiplier = (int32_t)edgec_word_at(numbers);
    const int32_t own = form->numbers > 0 ? (int32_t)edgec_word_at(numbers + 4) : task->offset;
    if (form->numbers == 2) {
        return edgec_requantize_twice_s8(sum, multiplier, task->offset * ((int32_t)1 << own),
                                         own + 1, INT8_MIN, INT8_MAX);
    }
    return edgec_high_code(sum, multiplier, own, form->shift, form->rounded);
}

/* Computes the outputs of a channel. */
EDGEC_INLINE void edgec_depthwise_dsp_channel(const edgec_depthwise_dsp_task_t *task,
                                              int32_t channel,
                                              const edgec_depthwise_dsp_form_t *form) {
    const int32_t steps = EDGEC_DEPTHWISE_DSP_STEPS(form->taps, form->stride) * form->rows;
    const int32_t bytes = (2 * steps + (form->stride == 1 ? 2 : 0) + 3) / 4 * 4;
    const int8_t *const stream = task->stream + channel * (bytes + (form->numbers > 0 ? 12 : 8));
    const int32_t start = (int32_t)edgec_word_at(stream + bytes);
    const int32_t bias = form->numbers == 2 ? start / 2 : start;
    for (int32_t oy = 0; oy < task->rows; oy++) {
        const edgec_pair_t *const row = task->planes + oy * (task->down / 4) + channel;
        for (int32_t ox = 0; ox < task->width; ox++) {
            const int32_t column = ox * form->stride;
            const int32_t sum =
                edgec_depthwise_dsp_sum(row + column / 2 * EDGEC_DEPTHWISE_DSP_CHANNELS, column % 2,
                                        task->tap, stream, bias, form);
            int8_t *const pixel = task->y + oy * task->row + ox * task->pixel;
            if (form->numbers == 3) {
                const int8_t *const own = stream + bytes + 4;
                const int32_t shift = (int32_t)edgec_word_at(own + 4) + 17;
                ((int16_t *)(void *)pixel)[channel] = edgec_tflite_s16_high(
                    sum, (int32_t)edgec_word_at(own) >> 16, shift, form->low, INT16_MAX);
            } else if (form->low == INT8_MIN) {
                pixel[channel] = edgec_depthwise_dsp_code(task, stream + bytes + 4, sum, form);
            } else {
                const int32_t code = edgec_clamp_s32(
                    edgec_high_shifted(sum, (int32_t)edgec_word_at(stream + bytes + 4),
                                       task->offset, form->shift, form->rounded),
                    form->low, INT16_MAX);
                ((int16_t *)(void *)pixel)[channel] = (int16_t)code;
            }
        }
    }
}
#endif

/* Stores four channels of two pixels of int16; NULL: a pixel of zeros. */
EDGEC_INLINE void edgec_depthwise_dsp_put_s16(const int8_t *a, const int8_t *b, edgec_pair_t *to) {
    for (int32_t two = 0; two < 2; two++) {
        const uint32_t first = a == NULL ? 0 : edgec_word_at(a + 4 * two);
        const uint32_t second = b == NULL ? 0 : edgec_word_at(b + 4 * two);
        to[2 * two] = (first & 0xFFFFU) | second << 16;
        to[2 * two + 1] = first >> 16 | (second & 0xFFFF0000U);
    }
}

/* Unpacks rows of four channels of int16, whose zero point is 0. */
EDGEC_SEPARATE void edgec_depthwise_dsp_unpack_s16(const int8_t *x, edgec_pair_t *planes,
                                                   const edgec_depthwise_dsp_image_t *image) {
    for (int32_t row = 0; row < image->rows; row++) {
        const int8_t *from = x + row * image->row;
        edgec_pair_t *to = planes + row * (image->plane / 4);
        if (image->lead > 0) {
            edgec_depthwise_dsp_put_s16(NULL, from, to);
            from += image->pixel;
            to += EDGEC_DEPTHWISE_DSP_CHANNELS;
        }
        for (int32_t pair = 0; pair < image->pairs; pair++) {
            edgec_depthwise_dsp_put_s16(from, from + image->pixel, to);
            from += 2 * image->pixel;
            to += EDGEC_DEPTHWISE_DSP_CHANNELS;
        }
        if (image->tail > 0) {
            edgec_depthwise_dsp_put_s16(from, NULL, to);
        }
    }
}

/* The sizes of a layer, and the function of its form. */
typedef struct edgec_depthwise_dsp_layer {
    void (*rows)(const edgec_depthwise_dsp_task_t *task);
    void (*unpack)(const int8_t *x, edgec_pair_t *planes, const edgec_depthwise_dsp_image_t *image);
    int16_t height;
    int16_t width;
    int16_t channels;
    int16_t out_height;
    int16_t out_width;
    int16_t taps;     /* rows of the window */
    int16_t stride;   /* of rows */
    int16_t dilation; /* of rows */
    int16_t above;    /* rows outside the image before the first one */
    int16_t left;     /* columns likewise */
    int16_t inside;   /* columns of the image that are unpacked */
    int16_t words;    /* of a row of the planes */
    int16_t strip;    /* rows of outputs made from one set of planes */
    int16_t band;     /* words from a band to the next */
    int16_t looped;   /* 1: rows of taps are a loop */
    int16_t room;     /* words for the weights of a channel */
    int16_t numbers;  /* bytes of the stream for a channel */
    int16_t shift;    /* after the high word of the product */
    int16_t bytes;    /* of an element of x, and of y */
    int16_t filters;  /* of a channel */
} edgec_depthwise_dsp_layer_t;

/* Clears places of the planes. */
EDGEC_SEPARATE void edgec_depthwise_dsp_clear(edgec_pair_t *planes, int32_t places) {
    const edgec_pair_t zero = edgec_kept(0); /* unknown to gcc, which would call memset */
    edgec_pair_t *const end = planes + places * EDGEC_DEPTHWISE_DSP_CHANNELS;
    for (edgec_pair_t *to = planes; to < end; to += EDGEC_DEPTHWISE_DSP_CHANNELS) {
        for (int32_t c = 0; c < EDGEC_DEPTHWISE_DSP_CHANNELS; c++) {
            to[c] = zero;
        }
    }
}

/* All outputs of a layer.
 * Order: strips of rows; in a strip four channels are read, then their outputs are written, one
 * channel after the other. */
EDGEC_SEPARATE void edgec_depthwise_dsp(const int8_t *x, int8_t *y, int8_t *scratch,
                                        const edgec_residual_params_t *params,
                                        const edgec_depthwise_dsp_layer_t *layer) {
    const int32_t channels = layer->channels;
    const int32_t words = layer->words;
    const int32_t place = EDGEC_DEPTHWISE_DSP_CHANNELS * (int32_t)sizeof(edgec_pair_t);
    const int32_t reach = (layer->taps - 1) * layer->dilation + 1;
    edgec_depthwise_dsp_image_t image; /* no initializers: gcc would clear them first */
    edgec_depthwise_dsp_task_t task;
    task.weights = (edgec_pair_t *)(void *)scratch;
    edgec_pair_t *const planes = task.weights + layer->room;
    image.pixel = channels * layer->bytes;
    image.row = layer->width * image.pixel;
    image.zero = ((uint32_t)-params->x_zero_point & 0xFFFFU) * 0x00010001U;
    image.padding = (uint8_t)params->x_zero_point * 0x01010101U;
    image.lead = layer->left % 2;
    image.pairs = (layer->inside - image.lead) / 2;
    image.tail = (layer->inside - image.lead) % 2;
    image.plane = words * place;
    task.offset = edgec_high_offset(params->y_zero_point, layer->shift);
    task.pixel = image.pixel * layer->filters;
    task.down = layer->stride * image.plane;
    task.row = layer->out_width * task.pixel;
    task.tap = layer->dilation * image.plane;
    task.back = layer->band * place - (layer->taps - 1 + layer->looped) * task.tap;
    task.width = layer->out_width;
    edgec_depthwise_dsp_clear(planes, ((layer->strip - 1) * layer->stride + reach) * words);
    for (int32_t top = 0; top < layer->out_height; top += layer->strip) {
        task.rows = edgec_min_s32(layer->out_height - top, layer->strip);
        const int32_t first = top * layer->stride - layer->above;
        const int32_t last = first + (task.rows - 1) * layer->stride + reach;
        const int32_t begin = edgec_max_s32(first, 0);
        const int32_t end = edgec_max_s32(edgec_min_s32(last, layer->height), begin);
        edgec_pair_t *const to = planes + (begin - first) * words * EDGEC_DEPTHWISE_DSP_CHANNELS;
        image.rows = end - begin;
        if (top > 0) {
            edgec_depthwise_dsp_clear(planes + (end - first) * words * EDGEC_DEPTHWISE_DSP_CHANNELS,
                                      (last - end) * words);
        }
        for (int32_t four = 0; four < channels; four += EDGEC_DEPTHWISE_DSP_CHANNELS) {
            /* The last planes may hold channels that are done already. */
            const int32_t c = edgec_min_s32(four, channels - EDGEC_DEPTHWISE_DSP_CHANNELS);
            if (image.rows > 0) {
                layer->unpack(x + begin * image.row + c * layer->bytes,
                              to + layer->left / 2 * EDGEC_DEPTHWISE_DSP_CHANNELS, &image);
            }
            const int32_t count = c + EDGEC_DEPTHWISE_DSP_CHANNELS - four;
            const int32_t calls = layer->filters > 1 ? count * layer->filters : 1;
            task.channels = layer->filters > 1 ? 1 : count;
            for (int32_t i = 0; i < calls; i++) {
                const int32_t first_channel = four * layer->filters + i;
                task.stream = params->weights + first_channel * layer->numbers;
                task.y = y + top * task.row + first_channel * layer->bytes;
                task.planes = planes + (four - c) + i / layer->filters;
                layer->rows(&task);
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
