/* Sums of table rows: the inner loop of pooled convolutions.
 *
 * EDGEC_POOL_GATHER8(name, unroll) defines the function
 *
 *     void name(uint32_t *sums, const uint16_t *list, const uint8_t *const *bases,
 *               const uint32_t *end, uint32_t step)
 *
 * which adds to each of the words sums[0..7], sums[step..step+7], ... before `end`, one filter
 * each, the eight words found at every entry of the filter's list.  EDGEC_POOL_GATHER4 has four
 * words instead of eight.
 *
 * list: the entries of all filters, one filter after the other.  An entry is the offset in bytes,
 *       a multiple of 4, from a base; bit 0 marks the last entry that uses this base.
 * bases: one for each marked entry of a filter, in order, then NULL; the same for all filters.
 * unroll: divides the number of entries of every base.  The list must have one more entry, which
 *       is read but not used.
 *
 * On Arm cores the functions are assembly, because no compiler keeps eight sums, three words, two
 * pointers and an address in the fourteen registers; loads stand together where they pipeline.
 */
#ifndef EDGEC_WEIGHT_POOL_GATHER_H
#define EDGEC_WEIGHT_POOL_GATHER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lane 0 or 1 of ``low + 65536 * high`` mod 2^32. */
EDGEC_INLINE int32_t edgec_pool_lane(uint32_t word, int32_t lane) {
    if (lane == 0) {
        return (int16_t)(uint16_t)word;
    }
    return (int32_t)(word + 0x8000U) >> 16;
}

/* Add `places` to the lists of all filters, each of `entries` entries; no sum is beyond 16 bits.
 * With an even number two entries are added at a time: lists start at a multiple of four. */
EDGEC_INLINE void edgec_pool_add_places(uint16_t *list, const uint16_t *places, int32_t entries,
                                        int32_t filters) {
    const uint16_t *const end = list + filters * entries;
#if defined(__GNUC__)
    if (entries % 2 == 0) {
        for (int32_t n = 0; n < entries; n += 2) {
            const uint32_t both = places[n] | (uint32_t)places[n + 1] << 16;
            for (uint16_t *at = list + n; at < end; at += entries) {
                void *const pair = __builtin_assume_aligned(at, 4);
                uint32_t word;
                memcpy(&word, pair, sizeof word);
                word += both;
                memcpy(pair, &word, sizeof word);
            }
        }
        return;
    }
#endif
    for (int32_t n = 0; n < entries; n++) {
        for (uint16_t *at = list + n; at < end; at += entries) {
            *at = (uint16_t)(*at + places[n]);
        }
    }
}

#if defined(__GNUC__) && defined(__thumb2__) && defined(__ARM_ARCH_PROFILE) &&                     \
    __ARM_ARCH_PROFILE == 'M'
#define EDGEC_POOL_ARMV7M 1
#define EDGEC_POOL_ARMV6M 0
#elif defined(__GNUC__) && defined(__ARM_ARCH_6M__)
#define EDGEC_POOL_ARMV7M 0
#define EDGEC_POOL_ARMV6M 1
#else
#define EDGEC_POOL_ARMV7M 0
#define EDGEC_POOL_ARMV6M 0
#endif

#if EDGEC_POOL_ARMV7M || EDGEC_POOL_ARMV6M

#define EDGEC_GATHER_TEXT(token) #token

/* r0 address, r1 list, r2 base; on the stack the first four arguments, of which [sp, #0] moves on
 * by filters and [sp, #4] holds the place in the bases; the fifth argument is at [sp, #52]. */
#define EDGEC_GATHER_FUNCTION(name, body)                                                          \
    __attribute__((naked, noinline, unused)) static void name(                                     \
        __attribute__((unused)) uint32_t *sums, __attribute__((unused)) const uint16_t *list,      \
        __attribute__((unused)) const uint8_t *const *bases,                                       \
        __attribute__((unused)) const uint32_t *end, __attribute__((unused)) uint32_t step) {      \
        __asm__ volatile(body);                                                                    \
    }

#endif

#if EDGEC_POOL_ARMV7M

/* One look-up but for its last addition, and `next`, which loads the next entry into r0 after the
 * other loads.  The last sum of a look-up waits until r0 is the next address: additions fill the
 * slot in which a load would wait for its address. */
#define EDGEC_GATHER_LOOKUP8(next)                                                                 \
    "ldr r3, [r0]\n"                                                                               \
    "ldr r4, [r0, #4]\n"                                                                           \
    "ldr r5, [r0, #8]\n"                                                                           \
    "add r6, r3\n"                                                                                 \
    "add r7, r4\n"                                                                                 \
    "add r8, r5\n"                                                                                 \
    "ldr r3, [r0, #12]\n"                                                                          \
    "ldr r4, [r0, #16]\n"                                                                          \
    "ldr r5, [r0, #20]\n"                                                                          \
    "add r9, r3\n"                                                                                 \
    "add r10, r4\n"                                                                                \
    "add r11, r5\n"                                                                                \
    "ldr r3, [r0, #24]\n"                                                                          \
    "ldr r4, [r0, #28]\n" next "add r12, r3\n"
#define EDGEC_GATHER_LAST8 "add lr, r4\n"
#define EDGEC_GATHER_SUMS8 "{r6-r12, lr}"

#define EDGEC_GATHER_LOOKUP4(next)                                                                 \
    "ldr r3, [r0]\n"                                                                               \
    "ldr r5, [r0, #4]\n"                                                                           \
    "ldr r6, [r0, #8]\n"                                                                           \
    "ldr r4, [r0, #12]\n" next "add r8, r3\n"                                                      \
    "add r9, r5\n"                                                                                 \
    "add r10, r6\n"
#define EDGEC_GATHER_LAST4 "add r11, r4\n"
#define EDGEC_GATHER_SUMS4 "{r8-r11}"

/* The last entry of a round: its mark goes into the carry, which lives until the branch, since no
 * other instruction sets flags. */
#define EDGEC_GATHER_MARKED                                                                        \
    "add r1, r1, #2*(edgec_n)\n"                                                                   \
    "lsrs r0, r0, #1\n"                                                                            \
    "add r0, r2, r0, lsl #1\n"

/* clang-format off */
#define EDGEC_POOL_GATHER(name, lookup, last, sums, unroll)                                        \
    EDGEC_GATHER_FUNCTION(name,                                                                    \
        ".syntax unified\n"                                                                        \
        ".set edgec_n, " EDGEC_GATHER_TEXT(unroll) "\n"                                            \
        "push {r4-r11, lr}\n"                                                                      \
        "push {r0-r3}\n"                                                                           \
        "ldrh r0, [r1]\n"                                                                          \
        "1:\n" /* a filter */                                                                      \
        "ldr r3, [sp]\n"                                                                           \
        "ldmia r3, " sums "\n"                                                                     \
        "ldr r3, [sp, #8]\n"                                                                       \
        "ldr r2, [r3], #4\n"                                                                       \
        "2:\n" /* a base */                                                                        \
        "str r3, [sp, #4]\n"                                                                       \
        "movs r4, #0\n"                                                                            \
        "3:\n" /* a round of look-ups; r0 is its first entry */                                    \
        ".if edgec_n == 1\n"                                                                       \
        EDGEC_GATHER_MARKED                                                                        \
        ".else\n"                                                                                  \
        "add r0, r2\n"                                                                             \
        ".endif\n"                                                                                 \
        last                                                                                       \
        ".set edgec_i, 2\n"                                                                        \
        ".if edgec_n > 2\n"                                                                        \
        ".rept edgec_n - 2\n"                                                                      \
        lookup("ldrh r0, [r1, #edgec_i]\n")                                                        \
        "add r0, r2\n"                                                                             \
        last                                                                                       \
        ".set edgec_i, edgec_i + 2\n"                                                              \
        ".endr\n"                                                                                  \
        ".endif\n"                                                                                 \
        ".if edgec_n > 1\n"                                                                        \
        lookup("ldrh r0, [r1, #edgec_i]\n")                                                        \
        EDGEC_GATHER_MARKED                                                                        \
        last                                                                                       \
        ".endif\n"                                                                                 \
        lookup("ldrh r0, [r1]\n")                                                                  \
        "bcc 3b\n"                                                                                 \
        last                                                                                       \
        "ldr r3, [sp, #4]\n"                                                                       \
        "ldr r2, [r3], #4\n"                                                                       \
        "cmp r2, #0\n"                                                                             \
        "bne 2b\n"                                                                                 \
        "ldr r3, [sp]\n"                                                                           \
        "stmia r3, " sums "\n"                                                                     \
        "ldr r4, [sp, #52]\n"                                                                      \
        "ldr r5, [sp, #12]\n"                                                                      \
        "add r3, r3, r4, lsl #2\n"                                                                 \
        "str r3, [sp]\n"                                                                           \
        "cmp r3, r5\n"                                                                             \
        "bne 1b\n"                                                                                 \
        "add sp, #16\n"                                                                            \
        "pop {r4-r11, pc}\n")
/* clang-format on */

#define EDGEC_POOL_GATHER8(name, unroll)                                                           \
    EDGEC_POOL_GATHER(name, EDGEC_GATHER_LOOKUP8, EDGEC_GATHER_LAST8, EDGEC_GATHER_SUMS8, unroll)
#define EDGEC_POOL_GATHER4(name, unroll)                                                           \
    EDGEC_POOL_GATHER(name, EDGEC_GATHER_LOOKUP4, EDGEC_GATHER_LAST4, EDGEC_GATHER_SUMS4, unroll)

#elif EDGEC_POOL_ARMV6M

/* One look-up.  LDM is the fastest load here, and takes the low registers only. */
#define EDGEC_GATHER_LOOKUP8                                                                       \
    "ldmia r0!, {r3-r5}\n"                                                                         \
    "add r6, r3\n"                                                                                 \
    "add r7, r4\n"                                                                                 \
    "add r8, r5\n"                                                                                 \
    "ldmia r0!, {r3-r5}\n"                                                                         \
    "add r9, r3\n"                                                                                 \
    "add r10, r4\n"                                                                                \
    "add r11, r5\n"                                                                                \
    "ldmia r0!, {r3, r4}\n"                                                                        \
    "add r12, r3\n"                                                                                \
    "add lr, r4\n"
#define EDGEC_GATHER_LOAD8                                                                         \
    "ldmia r3!, {r6, r7}\n"                                                                        \
    "ldmia r3!, {r0, r2, r4, r5}\n"                                                                \
    "mov r8, r0\n"                                                                                 \
    "mov r9, r2\n"                                                                                 \
    "mov r10, r4\n"                                                                                \
    "mov r11, r5\n"                                                                                \
    "ldmia r3!, {r0, r2}\n"                                                                        \
    "mov r12, r0\n"                                                                                \
    "mov lr, r2\n"
#define EDGEC_GATHER_STORE8                                                                        \
    "stmia r3!, {r6, r7}\n"                                                                        \
    "mov r4, r8\n"                                                                                 \
    "mov r5, r9\n"                                                                                 \
    "mov r6, r10\n"                                                                                \
    "mov r7, r11\n"                                                                                \
    "stmia r3!, {r4-r7}\n"                                                                         \
    "mov r4, r12\n"                                                                                \
    "mov r5, lr\n"                                                                                 \
    "stmia r3!, {r4, r5}\n"

#define EDGEC_GATHER_LOOKUP4                                                                       \
    "ldmia r0!, {r3-r6}\n"                                                                         \
    "add r8, r3\n"                                                                                 \
    "add r9, r4\n"                                                                                 \
    "add r10, r5\n"                                                                                \
    "add r11, r6\n"
#define EDGEC_GATHER_LOAD4                                                                         \
    "ldmia r3!, {r4-r7}\n"                                                                         \
    "mov r8, r4\n"                                                                                 \
    "mov r9, r5\n"                                                                                 \
    "mov r10, r6\n"                                                                                \
    "mov r11, r7\n"
#define EDGEC_GATHER_STORE4                                                                        \
    "mov r4, r8\n"                                                                                 \
    "mov r5, r9\n"                                                                                 \
    "mov r6, r10\n"                                                                                \
    "mov r7, r11\n"                                                                                \
    "stmia r3!, {r4-r7}\n"

/* A conditional branch to `label`, which a long round puts too far away for a single one. */
#define EDGEC_GATHER_BRANCH(condition, otherwise, label)                                           \
    ".if edgec_n > 9\n" otherwise " 5f\n"                                                          \
    "b " label "\n"                                                                                \
    "5:\n"                                                                                         \
    ".else\n" condition " " label "\n"                                                             \
    ".endif\n"

/* The mark of a round's last entry goes into the carry and lives until the branch: additions of two
 * registers set no flags. */
/* clang-format off */
#define EDGEC_POOL_GATHER(name, lookup, load, store, unroll)                                       \
    EDGEC_GATHER_FUNCTION(name,                                                                    \
        ".syntax unified\n"                                                                        \
        ".set edgec_n, " EDGEC_GATHER_TEXT(unroll) "\n"                                            \
        "push {r4-r7, lr}\n"                                                                       \
        "mov r4, r8\n"                                                                             \
        "mov r5, r9\n"                                                                             \
        "mov r6, r10\n"                                                                            \
        "mov r7, r11\n"                                                                            \
        "push {r4-r7}\n"                                                                           \
        "push {r0-r3}\n"                                                                           \
        "1:\n" /* a filter */                                                                      \
        "ldr r3, [sp]\n"                                                                           \
        load                                                                                       \
        "ldr r3, [sp, #8]\n"                                                                       \
        "ldmia r3!, {r2}\n"                                                                        \
        "2:\n" /* a base */                                                                        \
        "str r3, [sp, #4]\n"                                                                       \
        "3:\n" /* a round of look-ups */                                                           \
        ".set edgec_i, 0\n"                                                                        \
        ".if edgec_n > 1\n"                                                                        \
        ".rept edgec_n - 1\n"                                                                      \
        "ldrh r0, [r1, #edgec_i]\n"                                                                \
        "add r0, r2\n"                                                                             \
        lookup                                                                                     \
        ".set edgec_i, edgec_i + 2\n"                                                              \
        ".endr\n"                                                                                  \
        ".endif\n"                                                                                 \
        "ldrh r0, [r1, #edgec_i]\n"                                                                \
        "adds r1, r1, #2*(edgec_n)\n"                                                              \
        "lsrs r0, r0, #1\n"                                                                        \
        "add r0, r0\n"                                                                             \
        "add r0, r2\n"                                                                             \
        lookup                                                                                     \
        EDGEC_GATHER_BRANCH("bcc", "bcs", "3b")                                                    \
        "ldr r3, [sp, #4]\n"                                                                       \
        "ldmia r3!, {r2}\n"                                                                        \
        "cmp r2, #0\n"                                                                             \
        EDGEC_GATHER_BRANCH("bne", "beq", "2b")                                                    \
        "ldr r3, [sp]\n"                                                                           \
        store                                                                                      \
        "ldr r3, [sp]\n"                                                                           \
        "ldr r4, [sp, #52]\n"                                                                      \
        "lsls r4, r4, #2\n"                                                                        \
        "adds r3, r3, r4\n"                                                                        \
        "str r3, [sp]\n"                                                                           \
        "ldr r4, [sp, #12]\n"                                                                      \
        "cmp r3, r4\n"                                                                             \
        "beq 4f\n"                                                                                 \
        "b 1b\n" /* too far for a conditional branch */                                            \
        "4:\n"                                                                                     \
        "add sp, #16\n"                                                                            \
        "pop {r4-r7}\n"                                                                            \
        "mov r8, r4\n"                                                                             \
        "mov r9, r5\n"                                                                             \
        "mov r10, r6\n"                                                                            \
        "mov r11, r7\n"                                                                            \
        "pop {r4-r7, pc}\n")
/* clang-format on */

#define EDGEC_POOL_GATHER8(name, unroll)                                                           \
    EDGEC_POOL_GATHER(name, EDGEC_GATHER_LOOKUP8, EDGEC_GATHER_LOAD8, EDGEC_GATHER_STORE8, unroll)
#define EDGEC_POOL_GATHER4(name, unroll)                                                           \
    EDGEC_POOL_GATHER(name, EDGEC_GATHER_LOOKUP4, EDGEC_GATHER_LOAD4, EDGEC_GATHER_STORE4, unroll)

#else

#define EDGEC_POOL_GATHER(name, columns)                                                           \
    __attribute__((unused)) static void name(uint32_t *sums, const uint16_t *list,                 \
                                             const uint8_t *const *bases, const uint32_t *end,     \
                                             uint32_t step) {                                      \
        for (; sums != end; sums += step) {                                                        \
            uint32_t total[columns];                                                               \
            for (int32_t c = 0; c < columns; c++) {                                                \
                total[c] = sums[c];                                                                \
            }                                                                                      \
            for (const uint8_t *const *base = bases; *base != NULL; base++) {                      \
                uint32_t entry;                                                                    \
                do {                                                                               \
                    entry = *list++;                                                               \
                    const uint32_t *const row =                                                    \
                        (const uint32_t *)(const void *)(*base + (entry & ~1U));                   \
                    for (int32_t c = 0; c < columns; c++) {                                        \
                        total[c] += row[c];                                                        \
                    }                                                                              \
                } while ((entry & 1U) == 0U);                                                      \
            }                                                                                      \
            for (int32_t c = 0; c < columns; c++) {                                                \
                sums[c] = total[c];                                                                \
            }                                                                                      \
        }                                                                                          \
    }

#define EDGEC_POOL_GATHER8(name, unroll) EDGEC_POOL_GATHER(name, 8)
#define EDGEC_POOL_GATHER4(name, unroll) EDGEC_POOL_GATHER(name, 4)

#endif

#ifdef __cplusplus
}
#endif

#endif
