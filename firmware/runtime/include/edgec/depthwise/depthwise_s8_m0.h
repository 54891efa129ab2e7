/* Depthwise convolutions without the DSP extension: one channel of three rows of outputs.
 *
 * Of the activations x0, x1, x2 that three outputs below each other meet with one weight, the words
 *
 *     u = x0 + 2^21 x1        v = x2 + 2^10 x1        modulo 2^32
 *
 * are made once.  Sums of products of u and of v, modulo 2^32, hold three sums s0, s1, s2 as long
 * as s0 and s2 fit 21 bits and s1 22 bits: s0 is in the low 21 bits of the first word, the low 11
 * bits of s1 are in the rest of it, and with these taken off, s2 and the rest of s1 are in the
 * second word.  So two products do the work of three.  Words stand in the order in which windows
 * read them, column by column, with the padding between them; a window is a run of them, and the
 * window of the next output begins some columns later.
 *
 *     triples  [columns][rows of the window][2 words]
 *     weights  [columns of the window][rows of the window] bytes
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_S8_M0_H
#define EDGEC_DEPTHWISE_DEPTHWISE_S8_M0_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/rescale16.h"
#include "edgec/arithmetic/short_products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of outputs that are computed together. */
#define EDGEC_DEPTHWISE_M0_ROWS 3

/* The sizes of a layer. */
typedef struct edgec_depthwise_m0_layer {
    uint16_t height;
    uint16_t width;
    uint16_t channels;
    uint16_t out_height;
    uint16_t out_width;
    uint16_t pad_top;
    uint16_t pad_left;
    uint16_t inside; /* columns of the image that windows read */
    uint16_t right;  /* columns of padding after them */
} edgec_depthwise_m0_layer_t;

/* A word of activations or of sums; it may lie in an arena of bytes. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) edgec_triple_t;
#else
typedef uint32_t edgec_triple_t;
#endif

/* Adds the three sums that two words of sums hold to `sums`. */
EDGEC_INLINE void edgec_depthwise_m0_add(const edgec_triple_t *words, int32_t *sums) {
    const uint32_t first = words[0];
    const int32_t s0 = (int32_t)(first << 11) >> 11;
    const uint32_t low = (first - (uint32_t)s0) >> 21;
    const uint32_t second = words[1] - (low << 10);
    const int32_t s2 = (int32_t)(second << 11) >> 11;
    sums[0] += s0;
    sums[1] += (int32_t)low + ((int32_t)(second - (uint32_t)s2) >> 10);
    sums[2] += s2;
}

/* The pixels of three rows that one row of a window reads; a row outside of the image is one code
 * of padding, `step` 0. */
typedef struct edgec_triple_rows {
    const int8_t *from[EDGEC_DEPTHWISE_M0_ROWS];
    int32_t step[EDGEC_DEPTHWISE_M0_ROWS];
} edgec_triple_rows_t;

/* The two words of three activations. */
EDGEC_INLINE void edgec_triple(edgec_triple_t *to, int32_t x0, int32_t x1, int32_t x2) {
    to[0] = (uint32_t)x0 + ((uint32_t)x1 << 21);
    to[1] = (uint32_t)x2 + ((uint32_t)x1 << 10);
}

/* `count` pixels, `step` bytes apart, of three rows: edgec_triple, `words` apart. */
#if defined(__GNUC__) && defined(__ARM_ARCH_6M__)
/* Rows in r0-r2, indexed by r3; words to r7; steps in r8 and r9, the end of the index in r12. */
/* clang-format off */
EDGEC_SEPARATE void edgec_depthwise_m0_column(const int8_t *const *rows, edgec_triple_t *to,
                                         int32_t words, int32_t step, int32_t count) {
    register const int8_t *const *from __asm__("r0") = rows;
    register edgec_triple_t *first __asm__("r1") = to;
    register int32_t bytes __asm__("r2") = 4 * words - 8;
    register int32_t each __asm__("r3") = step;
    register int32_t end __asm__("r4") = step * count;
    __asm__ volatile(
        ".syntax unified\n"
        "push {r7}\n"
        "mov r5, r8\n"
        "mov r6, r9\n"
        "push {r5, r6}\n"
        "movs r7, r1\n"
        "mov r9, r2\n"
        "mov r8, r3\n"
        "mov r12, r4\n"
        "ldm r0, {r0-r2}\n"
        "movs r3, #0\n"
        "1:\n"
        "ldrsb r5, [r1, r3]\n"
        "lsls r5, r5, #10\n"
        "ldrsb r6, [r2, r3]\n"
        "adds r6, r6, r5\n"
        "lsls r5, r5, #11\n"
        "ldrsb r4, [r0, r3]\n"
        "adds r5, r5, r4\n"
        "stm r7!, {r5, r6}\n"
        "add r7, r7, r9\n"
        "add r3, r3, r8\n"
        "cmp r3, r12\n"
        "bne 1b\n"
        "pop {r5, r6}\n"
        "mov r8, r5\n"
        "mov r9, r6\n"
        "pop {r7}\n"
        : "+r"(from), "+r"(first), "+r"(bytes), "+r"(each), "+r"(end)
        :
        : "r5", "r6", "r12", "memory", "cc");
}
/* clang-format on */
#else
EDGEC_SEPARATE void edgec_depthwise_m0_column(const int8_t *const *rows, edgec_triple_t *to,
                                              int32_t words, int32_t step, int32_t count) {
    const int8_t *const x0 = rows[0];
    const int8_t *const x1 = rows[1];
    const int8_t *const x2 = rows[2];
    for (int32_t i = 0; i < step * count; i += step, to += words) {
        edgec_triple(to, x0[i], x1[i], x2[i]);
    }
}
#endif

/* One row of the windows of a channel; `to` is its first word. */
EDGEC_INLINE void edgec_depthwise_m0_row(const edgec_triple_rows_t *rows, int32_t channel,
                                         edgec_triple_t *to, int32_t words, int32_t count) {
    const int8_t *from[EDGEC_DEPTHWISE_M0_ROWS];
    for (int32_t j = 0; j < EDGEC_DEPTHWISE_M0_ROWS; j++) {
        from[j] = rows->from[j] + ((rows->step[j] != 0) ? channel : 0);
    }
    const int32_t step = rows->step[0];
    if (step != 0 && step == rows->step[1] && step == rows->step[2]) {
        edgec_depthwise_m0_column(from, to, words, step, count);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        edgec_triple(to + i * words, *from[0], *from[1], *from[2]);
        for (int32_t j = 0; j < EDGEC_DEPTHWISE_M0_ROWS; j++) {
            from[j] += rows->step[j];
        }
    }
}

/* All three rows of windows of stride 1 and dilation 1: the pixels of five rows, `pitch` bytes
 * apart, `count` of them `step` bytes apart. */
#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)
/* Rows in r0, r1, r3-r5, indexed by r6 up to zero; words to r2; the step on the stack. */
/* clang-format off */
EDGEC_SEPARATE void edgec_depthwise_m0_five(const int8_t *x, int32_t pitch, edgec_triple_t *to,
                                       int32_t step, int32_t count) {
    register const int8_t *from __asm__("r0") = x + step * count;
    register int32_t bytes __asm__("r1") = pitch;
    register edgec_triple_t *words __asm__("r2") = to;
    register int32_t each __asm__("r3") = step;
    register int32_t index __asm__("r6") = -step * count;
    __asm__ volatile(
        "push {r3, r7}\n"
        "add r3, r0, r1, lsl #1\n"
        "add r5, r0, r1, lsl #2\n"
        "add r1, r0, r1\n"
        "sub r4, r1, r0\n"
        "add r4, r3, r4\n"
        "1:\n"
        "ldrsb r7, [r0, r6]\n"
        "ldrsb r8, [r1, r6]\n"
        "ldrsb r9, [r3, r6]\n"
        "ldrsb r10, [r4, r6]\n"
        "ldrsb r11, [r5, r6]\n"
        "add r7, r7, r8, lsl #21\n"
        "str r7, [r2]\n"
        "add r12, r9, r8, lsl #10\n"
        "str r12, [r2, #4]\n"
        "add r8, r8, r9, lsl #21\n"
        "str r8, [r2, #8]\n"
        "add r12, r10, r9, lsl #10\n"
        "str r12, [r2, #12]\n"
        "add r9, r9, r10, lsl #21\n"
        "str r9, [r2, #16]\n"
        "add r11, r11, r10, lsl #10\n"
        "str r11, [r2, #20]\n"
        "add r2, r2, #24\n"
        "ldr r7, [sp]\n"
        "adds r6, r6, r7\n"
        "bne 1b\n"
        "pop {r3, r7}\n"
        : "+r"(from), "+r"(bytes), "+r"(words), "+r"(each), "+r"(index)
        :
        : "r4", "r5", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
}
/* clang-format on */
#else
EDGEC_SEPARATE void edgec_depthwise_m0_five(const int8_t *x, int32_t pitch, edgec_triple_t *to,
                                            int32_t step, int32_t count) {
    for (int32_t i = 0; i < 3; i++) {
        const int8_t *const rows[] = {x + i * pitch, x + (i + 1) * pitch, x + (i + 2) * pitch};
        edgec_depthwise_m0_column(rows, to + 2 * i, 6, step, count);
    }
}
#endif

/* `count` times the two words of padding. */
EDGEC_INLINE void edgec_depthwise_m0_pad(edgec_triple_t *to, int32_t count, int32_t padding) {
    for (int32_t i = 0; i < count; i++) {
        edgec_triple(to + 2 * i, padding, padding, padding);
    }
}

/* Defines NAME(weights, triples, end, step): the words of sums of windows of TAPS triples, `step`
 * words apart, each stored where its window begins, until the next would begin at `end`. */
#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)
/* Words in r4 and r5, a weight in r6, sums in r8 and r9. */
/* clang-format off */
#define EDGEC_DEPTHWISE_M0(NAME, TAPS)                                                                  \
    EDGEC_SEPARATE void NAME(const int8_t *weights, edgec_triple_t *triples,                     \
                             const edgec_triple_t *end, int32_t step) {                          \
        register const int8_t *w __asm__("r0") = weights;                                          \
        register edgec_triple_t *x __asm__("r1") = triples;                                      \
        register const edgec_triple_t *last __asm__("r2") = end;                                 \
        register int32_t bytes __asm__("r3") = 4 * step;                                           \
        __asm__ volatile(                                                                          \
            "1:\n"                                                                                 \
            "mov r8, #0\n"                                                                         \
            "mov r9, #0\n"                                                                         \
            ".set edgec_tap, 0\n"                                                                  \
            ".rept %c[taps]\n"                                                                     \
            "ldr r4, [r1, #8 * edgec_tap]\n"                                                       \
            "ldr r5, [r1, #8 * edgec_tap + 4]\n"                                                   \
            "ldrsb r6, [r0, #edgec_tap]\n"                                                         \
            "mla r8, r4, r6, r8\n"                                                                 \
            "mla r9, r5, r6, r9\n"                                                                 \
            ".set edgec_tap, edgec_tap + 1\n"                                                      \
            ".endr\n"                                                                              \
            "strd r8, r9, [r1]\n"                                                                  \
            "add r1, r1, r3\n"                                                                     \
            "cmp r1, r2\n"                                                                         \
            "bne 1b\n"                                                                             \
            : "+r"(w), "+r"(x), "+r"(last), "+r"(bytes)                                            \
            : [taps] "i"(TAPS)                                                                     \
            : "r4", "r5", "r6", "r8", "r9", "memory", "cc");                                       \
    }

/* Nine weights in r4-r11 and lr, words in r2 and r3, sums in r0 and r12; the step and the end on
 * the stack. */
#define EDGEC_DEPTHWISE_M0_TAP(I, WEIGHT)                                                               \
    "ldr r2, [r1, #8 * " #I "]\n"                                                                  \
    "ldr r3, [r1, #8 * " #I " + 4]\n"                                                              \
    "mla r0, r2, " WEIGHT ", r0\n"                                                                 \
    "mla r12, r3, " WEIGHT ", r12\n"

EDGEC_SEPARATE void edgec_depthwise_m0_sums_9(const int8_t *weights, edgec_triple_t *triples,
                                         const edgec_triple_t *end, int32_t step) {
    register const int8_t *w __asm__("r0") = weights;
    register edgec_triple_t *x __asm__("r1") = triples;
    register const edgec_triple_t *last __asm__("r2") = end;
    register int32_t bytes __asm__("r3") = 4 * step;
    __asm__ volatile(
        "push {r2-r11}\n"
        "ldrsb r4, [r0]\n"
        "ldrsb r5, [r0, #1]\n"
        "ldrsb r6, [r0, #2]\n"
        "ldrsb r7, [r0, #3]\n"
        "ldrsb r8, [r0, #4]\n"
        "ldrsb r9, [r0, #5]\n"
        "ldrsb r10, [r0, #6]\n"
        "ldrsb r11, [r0, #7]\n"
        "ldrsb lr, [r0, #8]\n"
        "1:\n"
        "ldr r2, [r1]\n"
        "ldr r3, [r1, #4]\n"
        "mul r0, r2, r4\n"
        "mul r12, r3, r4\n"
        EDGEC_DEPTHWISE_M0_TAP(1, "r5")
        EDGEC_DEPTHWISE_M0_TAP(2, "r6")
        EDGEC_DEPTHWISE_M0_TAP(3, "r7")
        EDGEC_DEPTHWISE_M0_TAP(4, "r8")
        EDGEC_DEPTHWISE_M0_TAP(5, "r9")
        EDGEC_DEPTHWISE_M0_TAP(6, "r10")
        EDGEC_DEPTHWISE_M0_TAP(7, "r11")
        EDGEC_DEPTHWISE_M0_TAP(8, "lr")
        "ldrd r2, r3, [sp]\n"
        "str r0, [r1]\n"
        "str r12, [r1, #4]\n"
        "add r1, r1, r3\n"
        "cmp r1, r2\n"
        "bne 1b\n"
        "pop {r2-r11}\n"
        : "+r"(w), "+r"(x), "+r"(last), "+r"(bytes)
        :
        : "r12", "lr", "memory", "cc");
}
#undef EDGEC_DEPTHWISE_M0_TAP
/* clang-format on */
#define EDGEC_HAS_TRIPLES_SUMS_9 1
#elif defined(__GNUC__) && defined(__ARM_ARCH_6M__)
/* Words in r2 and r3, a weight in r4, sums in r5 and r6; end and step in r8 and r9; the weights are
 * widened on the stack. */
/* clang-format off */
#define EDGEC_DEPTHWISE_M0(NAME, TAPS)                                                                  \
    EDGEC_SEPARATE void NAME(const int8_t *weights, edgec_triple_t *triples,                     \
                             const edgec_triple_t *end, int32_t step) {                          \
        register const int8_t *w __asm__("r0") = weights;                                          \
        register edgec_triple_t *x __asm__("r1") = triples;                                      \
        register const edgec_triple_t *last __asm__("r2") = end;                                 \
        register int32_t bytes __asm__("r3") = 4 * step;                                           \
        __asm__ volatile(                                                                          \
            ".syntax unified\n"                                                                    \
            "push {r7}\n"                                                                          \
            "mov r4, r8\n"                                                                         \
            "mov r5, r9\n"                                                                         \
            "push {r4, r5}\n"                                                                      \
            "mov r8, r2\n"                                                                         \
            "mov r9, r3\n"                                                                         \
            "sub sp, sp, #4 * %c[taps]\n"                                                          \
            ".set edgec_tap, 0\n"                                                                  \
            ".rept %c[taps]\n"                                                                     \
            "movs r4, #edgec_tap\n"                                                                \
            "ldrsb r4, [r0, r4]\n"                                                                 \
            "str r4, [sp, #4 * edgec_tap]\n"                                                       \
            ".set edgec_tap, edgec_tap + 1\n"                                                      \
            ".endr\n"                                                                              \
            "1:\n"                                                                                 \
            "mov r0, sp\n"                                                                         \
            "movs r7, r1\n"                                                                        \
            "movs r5, #0\n"                                                                        \
            "movs r6, #0\n"                                                                        \
            ".rept %c[taps]\n"                                                                     \
            "ldm r1!, {r2, r3}\n"                                                                  \
            "ldm r0!, {r4}\n"                                                                      \
            "muls r2, r4, r2\n"                                                                    \
            "adds r5, r5, r2\n"                                                                    \
            "muls r3, r4, r3\n"                                                                    \
            "adds r6, r6, r3\n"                                                                    \
            ".endr\n"                                                                              \
            "mov r1, r7\n"                                                                         \
            "stm r7!, {r5, r6}\n"                                                                  \
            "add r1, r1, r9\n"                                                                     \
            "cmp r1, r8\n"                                                                         \
            "beq 2f\n"                                                                             \
            "b 1b\n"                                                                               \
            "2:\n"                                                                                 \
            "add sp, sp, #4 * %c[taps]\n"                                                          \
            "pop {r4, r5}\n"                                                                       \
            "mov r8, r4\n"                                                                         \
            "mov r9, r5\n"                                                                         \
            "pop {r7}\n"                                                                           \
            : "+r"(w), "+r"(x), "+r"(last), "+r"(bytes)                                            \
            : [taps] "i"(TAPS)                                                                     \
            : "r4", "r5", "r6", "memory", "cc");                                                   \
    }
/* clang-format on */
#else
#define EDGEC_DEPTHWISE_M0(NAME, TAPS)                                                             \
    EDGEC_INLINE void NAME(const int8_t *weights, edgec_triple_t *triples,                         \
                           const edgec_triple_t *end, int32_t step) {                              \
        for (; triples < end; triples += step) {                                                   \
            edgec_triple_t first = 0;                                                              \
            edgec_triple_t second = 0;                                                             \
            for (int32_t i = 0; i < (TAPS); i++) {                                                 \
                const uint32_t weight = (uint32_t)(int32_t)weights[i];                             \
                first += weight * triples[2 * i];                                                  \
                second += weight * triples[2 * i + 1];                                             \
            }                                                                                      \
            triples[0] = first;                                                                    \
            triples[1] = second;                                                                   \
        }                                                                                          \
    }
#endif

#if !defined(EDGEC_HAS_TRIPLES_SUMS_9)
EDGEC_DEPTHWISE_M0(edgec_depthwise_m0_sums_9, 9)
#endif

#ifdef __cplusplus
}
#endif

#endif
