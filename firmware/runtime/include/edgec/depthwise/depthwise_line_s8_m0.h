/* Depthwise convolutions whose windows are a line of taps, all inside the image, on Cortex-M0 and
 * M0+: four channels, a word of x and of weights, at a time.
 *
 *     weights  [fours of channels][taps][4]
 */
#ifndef EDGEC_DEPTHWISE_DEPTHWISE_LINE_S8_M0_H
#define EDGEC_DEPTHWISE_DEPTHWISE_LINE_S8_M0_H

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channels that are computed together. */
#define EDGEC_DEPTHWISE_LINE_M0_CHANNELS 4

/* Adds the products of `taps` words of x, `step` bytes apart, with the words of weights to the four
 * sums; x, the weights and the step are aligned to words. */
#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_ARCH_6M__)
/* clang-format off */
/* x in r0, weights in r1 until r12, words of both in r3 and r4, sums in r8 to r11. */
EDGEC_SEPARATE void edgec_depthwise_line_m0(const int8_t *x, const int8_t *weights, int32_t step,
                                            int32_t taps, int32_t *sums) {
    register const int8_t *from __asm__("r0") = x;
    register const int8_t *w __asm__("r1") = weights;
    register int32_t bytes __asm__("r2") = step;
    register int32_t *acc __asm__("r3") = sums;
    register const int8_t *end __asm__("r4") = weights + 4 * taps;
    __asm__ volatile(
        ".syntax unified\n"
        "mov r5, r8\n"
        "mov r6, r9\n"
        "push {r3, r5, r6}\n"
        "mov r5, r10\n"
        "mov r6, r11\n"
        "push {r5, r6}\n"
        "mov r12, r4\n"
        "ldm r3!, {r4, r5, r6}\n"
        "ldr r3, [r3]\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r3\n"
        "1:\n"
        "ldr r3, [r0]\n"
        "ldm r1!, {r4}\n"
        "sxtb r5, r3\n"
        "sxtb r6, r4\n"
        "muls r5, r6, r5\n"
        "add r8, r8, r5\n"
        "lsls r5, r3, #16\n"
        "lsls r6, r4, #16\n"
        "asrs r5, r5, #24\n"
        "asrs r6, r6, #24\n"
        "muls r5, r6, r5\n"
        "add r9, r9, r5\n"
        "lsls r5, r3, #8\n"
        "lsls r6, r4, #8\n"
        "asrs r5, r5, #24\n"
        "asrs r6, r6, #24\n"
        "muls r5, r6, r5\n"
        "add r10, r10, r5\n"
        "asrs r3, r3, #24\n"
        "asrs r4, r4, #24\n"
        "muls r3, r4, r3\n"
        "add r11, r11, r3\n"
        "adds r0, r0, r2\n"
        "cmp r1, r12\n"
        "bne 1b\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r0, r11\n"
        "pop {r1, r2}\n"
        "mov r10, r1\n"
        "mov r11, r2\n"
        "pop {r1, r2, r3}\n"
        "mov r8, r2\n"
        "mov r9, r3\n"
        "stm r1!, {r4, r5, r6}\n"
        "str r0, [r1]\n"
        : "+r"(from), "+r"(w), "+r"(bytes), "+r"(acc), "+r"(end)
        :
        : "r5", "r6", "r12", "memory", "cc");
}
/* clang-format on */
#else
EDGEC_INLINE void edgec_depthwise_line_m0(const int8_t *x, const int8_t *weights, int32_t step,
                                          int32_t taps, int32_t *sums) {
    for (int32_t tap = 0; tap < taps; tap++, x += step) {
        for (int32_t c = 0; c < EDGEC_DEPTHWISE_LINE_M0_CHANNELS; c++) {
            sums[c] += x[c] * weights[EDGEC_DEPTHWISE_LINE_M0_CHANNELS * tap + c];
        }
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
