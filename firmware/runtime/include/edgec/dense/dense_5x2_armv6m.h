/* dense_5x2_s8_m0.h on Armv6-M. */
#ifndef EDGEC_DENSE_DENSE_5X2_ARMV6M_H
#define EDGEC_DENSE_DENSE_5X2_ARMV6M_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_5x2_s8_m0.h"

#if defined(__GNUC__) && defined(__ARM_ARCH_6M__)

#ifdef __cplusplus
extern "C" {
#endif

/* The words of `depth` activations of five rows: rows in r0-r2, r8 and r9, indexed by r3 up to
 * zero, words to r7. */
/* clang-format off */
#define EDGEC_DENSE_5X2_PACK                                                                        \
    "ldrsb r5, [r1, r3]\n"                                                                         \
    "lsls r4, r5, #19\n"                                                                           \
    "lsls r5, r5, #6\n"                                                                            \
    "ldrsb r6, [r0, r3]\n"                                                                         \
    "adds r4, r4, r6\n"                                                                            \
    "stm r7!, {r4}\n"                                                                              \
    "ldrsb r4, [r2, r3]\n"                                                                         \
    "adds r5, r5, r4\n"                                                                            \
    "mov r6, r8\n"                                                                                 \
    "ldrsb r6, [r6, r3]\n"                                                                         \
    "lsls r4, r6, #25\n"                                                                           \
    "adds r5, r5, r4\n"                                                                            \
    "lsls r6, r6, #12\n"                                                                           \
    "mov r4, r9\n"                                                                                 \
    "ldrsb r4, [r4, r3]\n"                                                                         \
    "adds r6, r6, r4\n"                                                                            \
    "stm r7!, {r5, r6}\n"                                                                          \
    "adds r3, r3, #1\n"

EDGEC_SEPARATE void edgec_dense_5x2_pack(const int8_t *const *rows, edgec_dense_5x2_t *to,
                                        int32_t depth) {
    register const int8_t *const *from __asm__("r0") = rows;
    register edgec_dense_5x2_t *words __asm__("r1") = to;
    register int32_t count __asm__("r2") = depth;
    __asm__ volatile(
        ".syntax unified\n"
        "push {r7}\n"
        "mov r5, r8\n"
        "mov r6, r9\n"
        "push {r5, r6}\n"
        "movs r7, r1\n"
        "movs r6, r2\n"
        "ldm r0, {r0-r4}\n"
        "add r0, r0, r6\n"
        "add r1, r1, r6\n"
        "add r2, r2, r6\n"
        "add r3, r3, r6\n"
        "mov r8, r3\n"
        "add r4, r4, r6\n"
        "mov r9, r4\n"
        "rsbs r3, r6, #0\n"
        "lsrs r4, r3, #1\n"
        "bcc 1f\n"
        EDGEC_DENSE_5X2_PACK
        "beq 2f\n"
        "1:\n"
        EDGEC_DENSE_5X2_PACK
        EDGEC_DENSE_5X2_PACK
        "bne 1b\n"
        "2:\n"
        "pop {r5, r6}\n"
        "mov r8, r5\n"
        "mov r9, r6\n"
        "pop {r7}\n"
        : "+r"(from), "+r"(words), "+r"(count)
        :
        : "r3", "r4", "r5", "r6", "memory", "cc");
}
#undef EDGEC_DENSE_5X2_PACK

/* Two activations of five rows by two weights each: sums in r8-r12 and lr, activations in r2-r4,
 * weights in r5. */
#define EDGEC_DENSE_5X2_SECOND(WEIGHT)                                                              \
    "muls r2, " WEIGHT ", r2\n"                                                                    \
    "add r11, r11, r2\n"                                                                           \
    "muls r3, " WEIGHT ", r3\n"                                                                    \
    "add r12, r12, r3\n"                                                                           \
    "muls r4, " WEIGHT ", r4\n"                                                                    \
    "add lr, lr, r4\n"
#define EDGEC_DENSE_5X2_FIRST                                                                       \
    "ldm r1!, {r2, r3, r4}\n"                                                                      \
    "sxtb r6, r5\n"                                                                                \
    "asrs r5, r5, #8\n"                                                                            \
    "movs r7, r6\n"                                                                                \
    "muls r7, r2, r7\n"                                                                            \
    "add r8, r8, r7\n"                                                                             \
    "movs r7, r6\n"                                                                                \
    "muls r7, r3, r7\n"                                                                            \
    "add r9, r9, r7\n"                                                                             \
    "muls r6, r4, r6\n"                                                                            \
    "add r10, r10, r6\n"

/* The same of three rows: sums in r8, r9, r11 and r12, of which the others are not changed. */
#define EDGEC_DENSE_5X2_SECOND3(WEIGHT)                                                             \
    "muls r2, " WEIGHT ", r2\n"                                                                    \
    "add r11, r11, r2\n"                                                                           \
    "muls r3, " WEIGHT ", r3\n"                                                                    \
    "add r12, r12, r3\n"
#define EDGEC_DENSE_5X2_FIRST3                                                                      \
    "ldm r1!, {r2, r3, r4}\n"                                                                      \
    "sxtb r6, r5\n"                                                                                \
    "asrs r5, r5, #8\n"                                                                            \
    "movs r7, r6\n"                                                                                \
    "muls r7, r2, r7\n"                                                                            \
    "add r8, r8, r7\n"                                                                             \
    "muls r6, r3, r6\n"                                                                            \
    "add r9, r9, r6\n"

#define EDGEC_DENSE_5X2_STEP(ROWS)                                                                  \
    "ldm r0!, {r5}\n"                                                                              \
    EDGEC_DENSE_5X2_FIRST##ROWS                                                                     \
    "sxtb r6, r5\n"                                                                                \
    "asrs r5, r5, #8\n"                                                                            \
    EDGEC_DENSE_5X2_SECOND##ROWS("r6")                                                              \
    EDGEC_DENSE_5X2_FIRST##ROWS                                                                     \
    EDGEC_DENSE_5X2_SECOND##ROWS("r5")

/* Defines NAME(part): the words of sums of all filters, two at a time.  The number of activations
 * is a multiple of 4.  Stack: activations, their end, address and end of the sums, bytes to
 * skip. */
#define EDGEC_DENSE_5X2_SUMS(NAME, ROWS)                                                            \
    EDGEC_SEPARATE void NAME(const edgec_dense_5x2_part_t *part) {                                  \
        register const edgec_dense_5x2_part_t *from __asm__("r0") = part;                           \
        __asm__ volatile(                                                                          \
            ".syntax unified\n"                                                                    \
            "push {r4-r7}\n"                                                                       \
            "mov r4, r8\n"                                                                         \
            "mov r5, r9\n"                                                                         \
            "mov r6, r10\n"                                                                        \
            "mov r7, r11\n"                                                                        \
            "push {r4-r7}\n"                                                                       \
            "ldm r0, {r0-r5}\n"                                                                    \
            "push {r1-r5}\n"                                                                       \
            "1:\n"                                                                                 \
            "ldr r1, [sp]\n"                                                                       \
            "movs r2, #0\n"                                                                        \
            "mov r8, r2\n"                                                                         \
            "mov r9, r2\n"                                                                         \
            "mov r10, r2\n"                                                                        \
            "mov r11, r2\n"                                                                        \
            "mov r12, r2\n"                                                                        \
            "mov lr, r2\n"                                                                         \
            "2:\n"                                                                                 \
            EDGEC_DENSE_5X2_STEP(ROWS)                                                              \
            EDGEC_DENSE_5X2_STEP(ROWS)                                                              \
            "ldr r2, [sp, #4]\n"                                                                   \
            "cmp r1, r2\n"                                                                         \
            "bne 2b\n"                                                                             \
            "ldr r7, [sp, #8]\n"                                                                   \
            "mov r2, r8\n"                                                                         \
            "mov r3, r9\n"                                                                         \
            "mov r4, r10\n"                                                                        \
            "mov r5, r11\n"                                                                        \
            "mov r6, r12\n"                                                                        \
            "stm r7!, {r2-r6}\n"                                                                   \
            "mov r2, lr\n"                                                                         \
            "stm r7!, {r2}\n"                                                                      \
            "str r7, [sp, #8]\n"                                                                   \
            "ldr r2, [sp, #16]\n"                                                                  \
            "adds r0, r0, r2\n"                                                                    \
            "ldr r2, [sp, #12]\n"                                                                  \
            "cmp r7, r2\n"                                                                         \
            "bne 1b\n"                                                                             \
            "add sp, sp, #20\n"                                                                    \
            "pop {r4-r7}\n"                                                                        \
            "mov r8, r4\n"                                                                         \
            "mov r9, r5\n"                                                                         \
            "mov r10, r6\n"                                                                        \
            "mov r11, r7\n"                                                                        \
            "pop {r4-r7}\n"                                                                        \
            : "+r"(from)                                                                           \
            :                                                                                      \
            : "r1", "r2", "r3", "r12", "lr", "memory", "cc");                                      \
    }
EDGEC_DENSE_5X2_SUMS(edgec_dense_5x2_sums, )
EDGEC_DENSE_5X2_SUMS(edgec_dense_5x2_sums3, 3)
#undef EDGEC_DENSE_5X2_FIRST
#undef EDGEC_DENSE_5X2_SECOND
#undef EDGEC_DENSE_5X2_FIRST3
#undef EDGEC_DENSE_5X2_SECOND3
#undef EDGEC_DENSE_5X2_STEP
#undef EDGEC_DENSE_5X2_SUMS
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif

#endif
