/* dense_5x2_s8_m0.h on Armv7-M. */
#ifndef EDGEC_DENSE_DENSE_5X2_THUMB2_H
#define EDGEC_DENSE_DENSE_5X2_THUMB2_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_5x2_s8_m0.h"

#if defined(__GNUC__) && defined(__thumb2__) && !defined(__aarch64__)

#ifdef __cplusplus
extern "C" {
#endif

/* The words of `depth` activations of five rows: rows in r0-r4, indexed by r6 up to zero, words to
 * r5. */
/* clang-format off */
#define EDGEC_DENSE_5X2_PACK                                                                        \
    "ldrsb r8, [r0, r6]\n"                                                                         \
    "ldrsb r9, [r1, r6]\n"                                                                         \
    "ldrsb r10, [r2, r6]\n"                                                                        \
    "ldrsb r11, [r3, r6]\n"                                                                        \
    "ldrsb r12, [r4, r6]\n"                                                                        \
    "adds r6, r6, #1\n"                                                                            \
    "add r8, r8, r9, lsl #19\n"                                                                    \
    "add r10, r10, r9, lsl #6\n"                                                                   \
    "add r10, r10, r11, lsl #25\n"                                                                 \
    "add r12, r12, r11, lsl #12\n"                                                                 \
    "str r10, [r5, #4]\n"                                                                          \
    "str r12, [r5, #8]\n"                                                                          \
    "str r8, [r5], #12\n"

EDGEC_SEPARATE void edgec_dense_5x2_pack(const int8_t *const *rows, edgec_dense_5x2_t *to,
                                        int32_t depth) {
    register const int8_t *const *from __asm__("r0") = rows;
    register edgec_dense_5x2_t *words __asm__("r5") = to;
    register int32_t index __asm__("r6") = depth;
    __asm__ volatile(
        "ldm r0, {r0-r4}\n"
        "add r0, r0, r6\n"
        "add r1, r1, r6\n"
        "add r2, r2, r6\n"
        "add r3, r3, r6\n"
        "add r4, r4, r6\n"
        "rsbs r6, r6, #0\n"
        "lsrs r8, r6, #1\n"
        "bcc 1f\n"
        EDGEC_DENSE_5X2_PACK
        "beq 2f\n"
        ".balign 4\n"
        "1:\n"
        EDGEC_DENSE_5X2_PACK
        EDGEC_DENSE_5X2_PACK
        "bne 1b\n"
        "2:\n"
        : "+r"(from), "+r"(words), "+r"(index)
        :
        : "r1", "r2", "r3", "r4", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
}
#undef EDGEC_DENSE_5X2_PACK

/* One activation of five rows by two weights: sums in r4-r9, activations in r2, r3 and r12, weights
 * in r10 and r11.  All steps have one size. */
#define EDGEC_DENSE_5X2_STEP(I)                                                                     \
    "ldr.w r2, [r1, #12 * " #I "]\n"                                                               \
    "ldr.w r3, [r1, #12 * " #I " + 4]\n"                                                           \
    "ldr.w r12, [r1, #12 * " #I " + 8]\n"                                                          \
    "ldrsb.w r10, [r0, #2 * " #I "]\n"                                                             \
    "ldrsb.w r11, [r0, #2 * " #I " + 1]\n"                                                         \
    "mla r4, r2, r10, r4\n"                                                                        \
    "mla r5, r3, r10, r5\n"                                                                        \
    "mla r6, r12, r10, r6\n"                                                                       \
    "mla r7, r2, r11, r7\n"                                                                        \
    "mla r8, r3, r11, r8\n"                                                                        \
    "mla r9, r12, r11, r9\n"

/* The words of sums of all filters, two at a time.  The first activation is multiplied apart; a
 * turn takes eight steps, and the first turn, of the remainder, is entered that many steps later.
 * Register lr: end of the activations.  Stack: activations, the first turn's activations, its
 * entry, its correction of the weights' address, bytes to skip, address and end of the sums. */
EDGEC_SEPARATE void edgec_dense_5x2_sums(const edgec_dense_5x2_part_t *part) {
    register const edgec_dense_5x2_part_t *from __asm__("r0") = part;
    __asm__ volatile(
        "push {r4-r11}\n"
        "ldm r0, {r0, r1, r2, r8, r9, r10, r11}\n"
        "mov lr, r2\n"
        "add r2, r11, r11, lsl #1\n"
        "sub r2, r1, r2, lsl #2\n"
        "add r2, r2, #12\n"
        "adr r3, 2f + 1\n"
        "mov r4, #44\n"
        "mla r3, r11, r4, r3\n"
        "rsb r4, r11, #1\n"
        "lsl r4, r4, #1\n"
        "push {r1-r4, r8-r10}\n"
        "1:\n"
        "ldr r12, [sp]\n"
        "ldr r1, [sp, #4]\n"
        "ldr r9, [sp, #12]\n"
        "ldr r2, [r12]\n"
        "ldr r3, [r12, #4]\n"
        "ldr r12, [r12, #8]\n"
        "ldrsb r10, [r0]\n"
        "ldrsb r11, [r0, #1]\n"
        "add r0, r0, r9\n"
        "mul r4, r2, r10\n"
        "mul r5, r3, r10\n"
        "mul r6, r12, r10\n"
        "mul r7, r2, r11\n"
        "ldr r2, [sp, #8]\n"
        "mul r8, r3, r11\n"
        "mul r9, r12, r11\n"
        "bx r2\n"
        ".balign 16\n"
        "2:\n"
        EDGEC_DENSE_5X2_STEP(0)
        EDGEC_DENSE_5X2_STEP(1)
        EDGEC_DENSE_5X2_STEP(2)
        EDGEC_DENSE_5X2_STEP(3)
        EDGEC_DENSE_5X2_STEP(4)
        EDGEC_DENSE_5X2_STEP(5)
        EDGEC_DENSE_5X2_STEP(6)
        EDGEC_DENSE_5X2_STEP(7)
        "add r0, r0, #16\n"
        "add r1, r1, #96\n"
        "cmp r1, lr\n"
        "bne 2b\n"
        "ldr r12, [sp, #16]\n"
        "ldr r2, [sp, #20]\n"
        "ldr r3, [sp, #24]\n"
        "stm r12!, {r4-r9}\n"
        "str r12, [sp, #16]\n"
        "add r0, r0, r3\n"
        "cmp r12, r2\n"
        "bne 1b\n"
        "add sp, sp, #28\n"
        "pop {r4-r11}\n"
        : "+r"(from)
        :
        : "r1", "r2", "r3", "r12", "lr", "memory", "cc");
}
#undef EDGEC_DENSE_5X2_STEP

/* One activation of three rows by two weights: sums in r4-r7, activations in r2 and r3, weights in
 * r10 and r11. */
#define EDGEC_DENSE_5X2_STEP(I)                                                                     \
    "ldr r2, [r1, #12 * " #I "]\n"                                                                 \
    "ldr r3, [r1, #12 * " #I " + 4]\n"                                                             \
    "ldrsb r10, [r0, #2 * " #I "]\n"                                                               \
    "ldrsb r11, [r0, #2 * " #I " + 1]\n"                                                           \
    "mla r4, r2, r10, r4\n"                                                                        \
    "mla r5, r3, r10, r5\n"                                                                        \
    "mla r6, r2, r11, r6\n"                                                                        \
    "mla r7, r3, r11, r7\n"

/* The first two words of sums of all filters.  Activations in r12, their end in r8, address of the
 * sums in lr, their end in r9; bytes to skip on the stack. */
EDGEC_SEPARATE void edgec_dense_5x2_sums3(const edgec_dense_5x2_part_t *part) {
    register const edgec_dense_5x2_part_t *from __asm__("r0") = part;
    __asm__ volatile(
        "push {r4-r11}\n"
        "ldm r0, {r0, r1, r2, r3, r9, r10}\n"
        "push {r10}\n"
        "mov r8, r2\n"
        "mov lr, r3\n"
        "mov r12, r1\n"
        "1:\n"
        "mov r1, r12\n"
        "mov r4, #0\n"
        "mov r5, #0\n"
        "mov r6, #0\n"
        "mov r7, #0\n"
        "sub r2, r8, r1\n"
        "tst r2, #4\n"
        "beq 2f\n"
        EDGEC_DENSE_5X2_STEP(0)
        "add r0, r0, #2\n"
        "add r1, r1, #12\n"
        "cmp r1, r8\n"
        "beq 3f\n"
        ".balign 4\n"
        "2:\n"
        EDGEC_DENSE_5X2_STEP(0)
        EDGEC_DENSE_5X2_STEP(1)
        "add r0, r0, #4\n"
        "add r1, r1, #24\n"
        "cmp r1, r8\n"
        "bne 2b\n"
        "3:\n"
        "ldr r10, [sp]\n"
        "strd r4, r5, [lr]\n"
        "strd r6, r7, [lr, #12]\n"
        "add lr, lr, #24\n"
        "add r0, r0, r10\n"
        "cmp lr, r9\n"
        "bne 1b\n"
        "add sp, sp, #4\n"
        "pop {r4-r11}\n"
        : "+r"(from)
        :
        : "r1", "r2", "r3", "r12", "lr", "memory", "cc");
}
#undef EDGEC_DENSE_5X2_STEP
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif

#endif
