/* Responses as products with the vectors of a pool; see edgec/weight_pool/responses.h.
 *
 * EDGEC_POOL_PRODUCTS, on cores with DSP or the instructions of Armv7-M, defines a function that
 * writes the table words of two pixels; on cores with DSP EDGEC_POOL_PACKED does those of four.
 */
#ifndef EDGEC_WEIGHT_POOL_PRODUCTS_H
#define EDGEC_WEIGHT_POOL_PRODUCTS_H

#include <stddef.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/dense/dense_3x2_s8_dsp.h"
#include "edgec/weight_pool/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signed 16-bit numbers of a word of the pool. */
EDGEC_INLINE uint32_t edgec_pool_low(uint32_t word) {
    return (uint32_t)(int16_t)(uint16_t)word;
}

EDGEC_INLINE uint32_t edgec_pool_high(uint32_t word) {
    return (uint32_t)((int32_t)word >> 16);
}

/* Store operations of a function of EDGEC_POOL_PRODUCTS: */
#define EDGEC_POOL_PAIR 0 /* a word with the two pixels in its lanes */
#define EDGEC_POOL_LONE 1 /* two words side by side, one lane of each is a pixel of padding */

/* clang-format off */

/* Turns of `times` vectors, until r1 is the number that was pushed last. */
#define EDGEC_POOL_LOOP(body)                                                                      \
    "1:\n"                                                                                         \
    ".rept %c[times]\n"                                                                            \
    body                                                                                           \
    ".endr\n"                                                                                      \
    "ldr r0, [sp]\n"                                                                               \
    "cmp r0, r1\n"                                                                                 \
    "bne 1b\n"

/* r0 pixels, eight words; r1 pool; r2 out; r3 three numbers, which the body finds on the stack: the
 * end of the pool, the place of the lane and the bias of the other one. */
#define EDGEC_POOL_PRODUCTS_TEXT(body)                                                             \
    "push {r4-r11, lr}\n"                                                                          \
    "ldm r3, {r4-r6}\n"                                                                            \
    "push {r4-r6}\n"                                                                               \
    "ldm r0, {r4-r11}\n"                                                                           \
    EDGEC_POOL_LOOP(body)                                                                          \
    "add sp, #12\n"                                                                                \
    "pop {r4-r11, lr}\n"

/* Two words from their lanes with bias in r12 and lr.  Uses r0 and r3. */
#define EDGEC_POOL_STORE_LONE                                                                      \
    "ldrd r0, r3, [sp, #4]\n"                                                                      \
    "lsl r12, r12, r0\n"                                                                           \
    "lsl lr, lr, r0\n"                                                                             \
    "add r12, r12, r3\n"                                                                           \
    "add lr, lr, r3\n"                                                                             \
    "str lr, [r2, #4]\n"                                                                           \
    EDGEC_POOL_STORE("r12", "r2")

/* clang-format on */

/* The function; at: the place of the lane of EDGEC_POOL_LONE, 0 or 16. */
#define EDGEC_POOL_PRODUCTS_FUNCTION(name, size, unrolled, shift, row, body)                       \
    __attribute__((noinline)) static void name(const uint32_t *pixels, const uint32_t *pool,       \
                                               uint32_t *out, int32_t at) {                        \
        const uint32_t numbers[] = {(uint32_t)(uintptr_t)(pool + 4 * (size)), (uint32_t)at,        \
                                    EDGEC_POOL_WORD_BIAS(shift) & ~(0xFFFFU << at)};               \
        register const uint32_t *x __asm__("r0") = pixels;                                         \
        register const uint32_t *p __asm__("r1") = pool;                                           \
        register uint32_t *to __asm__("r2") = out;                                                 \
        register const uint32_t *n __asm__("r3") = numbers;                                        \
        __asm__ volatile(EDGEC_POOL_PRODUCTS_TEXT(body)                                            \
                         : "+r"(x), "+r"(p), "+r"(to), "+r"(n)                                     \
                         : [times] "i"(unrolled), [right] "i"(shift),                              \
                           [half] "i"((1 << (shift)) >> 1), [step] "i"(4 * (row))                  \
                         : "r12", "memory", "cc");                                                 \
    }

#if EDGEC_POOL_DSP

/* Bytes 0 and 2 of a word as 16-bit lanes. */
EDGEC_INLINE uint32_t edgec_pool_even(uint32_t word) {
    uint32_t lanes;
    __asm__("uxtb16 %0, %1" : "=r"(lanes) : "r"(word));
    return lanes;
}

/* Bytes 1 and 3. */
EDGEC_INLINE uint32_t edgec_pool_odd(uint32_t word) {
    uint32_t lanes;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(lanes) : "r"(word));
    return lanes;
}

/* clang-format off */

/* One vector; both sums start at `half` + 2^15, so that they are unsigned 16-bit numbers. */
#define EDGEC_POOL_PRODUCT(mode)                                                                   \
    "ldrd r0, r3, [r1], #8\n"                                                                      \
    "movw lr, #(%c[half] + 0x8000)\n"                                                              \
    "smlad r12, r4, r0, lr\n"                                                                      \
    "smlad lr, r8, r0, lr\n"                                                                       \
    "smlad r12, r5, r3, r12\n"                                                                     \
    "smlad lr, r9, r3, lr\n"                                                                       \
    "ldrd r0, r3, [r1], #8\n"                                                                      \
    "smlad r12, r6, r0, r12\n"                                                                     \
    "smlad lr, r10, r0, lr\n"                                                                      \
    "smlad r12, r7, r3, r12\n"                                                                     \
    "smlad lr, r11, r3, lr\n"                                                                      \
    ".if %c[right]\n"                                                                              \
    "lsr r12, r12, %[right]\n"                                                                     \
    ".endif\n"                                                                                     \
    ".if " EDGEC_POOL_TEXT(mode) "\n"                                                              \
    ".if %c[right]\n"                                                                              \
    "lsr lr, lr, %[right]\n"                                                                       \
    ".endif\n"                                                                                     \
    EDGEC_POOL_STORE_LONE                                                                          \
    ".else\n"                                                                                      \
    "pkhbt r12, r12, lr, lsl #(16 - %c[right])\n"                                                  \
    EDGEC_POOL_STORE("r12", "r2")                                                                  \
    ".endif\n"

/* clang-format on */

/* Define `name`, which writes the responses of two pixels to `size` vectors of eight weights, a
 * multiple of `unrolled`: pixels holds the four words of a, then those of b. */
#define EDGEC_POOL_PRODUCTS(name, mode, size, unrolled, shift, row)                                \
    EDGEC_POOL_PRODUCTS_FUNCTION(name, size, unrolled, shift, row, EDGEC_POOL_PRODUCT(mode))

/* ---- Two pixels in a lane ----
 *
 * Codes x below 16: a lane holds a + 2^12 (b - 8), and a sum of products A + 2^12 (B - 8 P), P the
 * sum of the vector.  A and B, each in [-1920, 1905], are made unsigned numbers of 12 bits by a
 * start that also adds 8 P: it is the first of a vector's five words. */

/* Codes of a and b, in units of 2^drop. */
EDGEC_INLINE uint32_t edgec_pool_pack(uint32_t a, uint32_t b) {
    return (a | b << 12) ^ 0x80008000U;
}

/* clang-format off */

/* Lanes of a sum, shifted; uses r3. */
#define EDGEC_POOL_UNPACK(sum)                                                                     \
    "ubfx r3, " sum ", %[right], #(12 - %c[right])\n"                                              \
    ".if %c[right] > 4\n"                                                                          \
    "lsr " sum ", " sum ", #(%c[right] - 4)\n"                                                     \
    "pkhbt " sum ", r3, " sum "\n"                                                                 \
    ".elseif %c[right] == 4\n"                                                                     \
    "pkhbt " sum ", r3, " sum "\n"                                                                 \
    ".else\n"                                                                                      \
    "pkhbt " sum ", r3, " sum ", lsl #(4 - %c[right])\n"                                           \
    ".endif\n"                                                                                     \
    ".if %c[left]\n"                                                                               \
    "lsl " sum ", " sum ", %[left]\n"                                                              \
    ".endif\n"

#define EDGEC_POOL_PACKED_PRODUCT                                                                  \
    "ldm r1!, {r0, r3, r12}\n"                                                                     \
    "smlad lr, r4, r3, r0\n"                                                                       \
    "smlad r0, r8, r3, r0\n"                                                                       \
    "smlad lr, r5, r12, lr\n"                                                                      \
    "smlad r0, r9, r12, r0\n"                                                                      \
    "ldrd r3, r12, [r1], #8\n"                                                                     \
    "smlad lr, r6, r3, lr\n"                                                                       \
    "smlad r0, r10, r3, r0\n"                                                                      \
    "smlad lr, r7, r12, lr\n"                                                                      \
    "smlad r0, r11, r12, r0\n"                                                                     \
    EDGEC_POOL_UNPACK("lr")                                                                        \
    EDGEC_POOL_UNPACK("r0")                                                                        \
    "str r0, [r2, #4]\n"                                                                           \
    EDGEC_POOL_STORE("lr", "r2")

#define EDGEC_POOL_PACKED_TEXT                                                                     \
    "push {r3-r11, lr}\n"                                                                          \
    "ldm r0, {r4-r11}\n"                                                                           \
    EDGEC_POOL_LOOP(EDGEC_POOL_PACKED_PRODUCT)                                                     \
    "pop {r3-r11, lr}\n"

/* clang-format on */

/* Define `name`, which writes the responses of two columns, each a pair of pixels: pixels holds
 * the four packed words of the first, then those of the second.  Sums are shifted to the right by
 * up to EDGEC_POOL_HALF_SHIFT or to the left. */
#define EDGEC_POOL_PACKED(name, size, unrolled, to_right, to_left, row)                            \
    __attribute__((noinline)) static void name(const uint32_t *pixels, const uint32_t *pool,       \
                                               uint32_t *out) {                                    \
        register const uint32_t *x __asm__("r0") = pixels;                                         \
        register const uint32_t *p __asm__("r1") = pool;                                           \
        register uint32_t *to __asm__("r2") = out;                                                 \
        register const uint32_t *end __asm__("r3") = pool + 5 * (size);                            \
        __asm__ volatile(EDGEC_POOL_PACKED_TEXT                                                    \
                         : "+r"(x), "+r"(p), "+r"(to), "+r"(end)                                   \
                         : [times] "i"(unrolled), [right] "i"(to_right), [left] "i"(to_left),      \
                           [step] "i"(4 * (row))                                                   \
                         : "r12", "memory", "cc");                                                 \
    }

#else

EDGEC_INLINE uint32_t edgec_pool_even(uint32_t word) {
    return word & 0x00FF00FFU;
}

EDGEC_INLINE uint32_t edgec_pool_odd(uint32_t word) {
    return (word >> 8) & 0x00FF00FFU;
}

#if EDGEC_POOL_THUMB2

/* clang-format off */

/* Add the products of a weight with a code of each pixel. */
#define EDGEC_POOL_MAC(weight, pixels) "mla r12, " pixels ", " weight ", r12\n"

/* One vector, both pixels in one sum.  The shift is at most EDGEC_POOL_HALF_SHIFT: lanes with half
 * a unit and 2^15 stay unsigned. */
#define EDGEC_POOL_PRODUCT(mode)                                                                   \
    "ldrsh r0, [r1]\n"                                                                             \
    "ldrsh r3, [r1, #2]\n"                                                                         \
    "ldrsh lr, [r1, #4]\n"                                                                         \
    "mul r12, r4, r0\n"                                                                            \
    EDGEC_POOL_MAC("r3", "r5")                                                                     \
    EDGEC_POOL_MAC("lr", "r6")                                                                     \
    "ldrsh r0, [r1, #6]\n"                                                                         \
    "ldrsh r3, [r1, #8]\n"                                                                         \
    "ldrsh lr, [r1, #10]\n"                                                                        \
    EDGEC_POOL_MAC("r0", "r7")                                                                     \
    EDGEC_POOL_MAC("r3", "r8")                                                                     \
    EDGEC_POOL_MAC("lr", "r9")                                                                     \
    "ldrsh r0, [r1, #12]\n"                                                                        \
    "ldrsh r3, [r1, #14]\n"                                                                        \
    EDGEC_POOL_MAC("r0", "r10")                                                                    \
    EDGEC_POOL_MAC("r3", "r11")                                                                    \
    "add r1, r1, #16\n"                                                                            \
    "add r12, r12, #0x80008000\n"                                                                  \
    ".if %c[right]\n"                                                                              \
    "add r12, r12, #(%c[half] * 0x10001)\n"                                                        \
    ".endif\n"                                                                                     \
    ".if " EDGEC_POOL_TEXT(mode) "\n"                                                              \
    "lsr lr, r12, #(16 + %c[right])\n"                                                             \
    "ubfx r12, r12, %[right], #(16 - %c[right])\n"                                                 \
    EDGEC_POOL_STORE_LONE                                                                          \
    ".else\n"                                                                                      \
    ".if %c[right]\n"                                                                              \
    "lsr r12, r12, %[right]\n"                                                                     \
    "bic r12, r12, #((0xFFFF0000 >> %c[right]) & 0xFFFF)\n"                                        \
    ".endif\n"                                                                                     \
    EDGEC_POOL_STORE("r12", "r2")                                                                  \
    ".endif\n"

/* clang-format on */

/* As above; pixels holds eight words with a code of a in the low and one of b in the high lane. */
#define EDGEC_POOL_PRODUCTS(name, mode, size, unrolled, shift, row)                                \
    EDGEC_POOL_PRODUCTS_FUNCTION(name, size, unrolled, shift, row, EDGEC_POOL_PRODUCT(mode))

#endif

#endif

/* The pool [size, 8] as EDGEC_POOL_PACKED reads it, in `to`, five words a vector, on cores with
 * DSP; on others the pool itself.  start: added to the sums, both 12-bit lanes. */
EDGEC_INLINE const uint32_t *edgec_pool_packed(const uint32_t *pool, int32_t size, uint32_t start,
                                               uint32_t *to) {
#if EDGEC_POOL_DSP
    for (int32_t s = 0; s < size; s++) {
        uint32_t total = 0;
        for (int32_t i = 0; i < 4; i++) {
            const uint32_t word = pool[4 * s + i];
            total += edgec_pool_low(word) + edgec_pool_high(word);
            to[5 * s + 1 + i] = word;
        }
        to[5 * s] = start + (total << 15);
    }
    return to;
#else
    (void)size;
    (void)start;
    (void)to;
    return pool;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
