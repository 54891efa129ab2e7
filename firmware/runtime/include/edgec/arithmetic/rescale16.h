/* Requantization of a transformer's layers by a 16 by 15 bit product: 32 bits from end to end.
 *
 * ir/qops/forms.py, Rescale16x15, states the numbers and their bounds.  The half step before
 * the first shift is in the bias of every accumulator here, so `acc >> pre_shift` rounds half up.
 */
#ifndef EDGEC_ARITHMETIC_RESCALE16_H
#define EDGEC_ARITHMETIC_RESCALE16_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of the stream, of logits and sums: they lie in an arena of bytes. */
#if defined(__GNUC__)
typedef int16_t __attribute__((may_alias)) edgec_s16_t;
typedef int32_t __attribute__((may_alias)) edgec_s32_t;
#else
typedef int16_t edgec_s16_t;
typedef int32_t edgec_s32_t;
#endif

/* A condition that is nearly never true. */
#if defined(__GNUC__)
#define EDGEC_RARELY(CONDITION) __builtin_expect(CONDITION, 0)
#else
#define EDGEC_RARELY(CONDITION) (CONDITION)
#endif

#if defined(__GNUC__) && defined(__ARM_FEATURE_SAT)
#define EDGEC_SATURATE(BITS, X, RESULT) __asm__("ssat %0, #" #BITS ", %1" : "=r"(RESULT) : "r"(X))
#endif

/* x limited to int16. */
EDGEC_INLINE int32_t edgec_sat16(int32_t x) {
#if defined(EDGEC_SATURATE)
    int32_t result;
    EDGEC_SATURATE(16, x, result);
    return result;
#else
    /* One comparison where x fits, as it nearly always does. */
    if (EDGEC_RARELY((int16_t)x != x)) {
        return (x < 0) ? INT16_MIN : INT16_MAX;
    }
    return x;
#endif
}

/* x limited to [low, high], two constants; one instruction where they are those of 8, 10 or 16
 * bits, and three where only the lower one of 8 bits is higher. */
EDGEC_INLINE int32_t edgec_limit(int32_t x, int32_t low, int32_t high) {
#if defined(EDGEC_SATURATE)
    int32_t result;
    if (high == INT16_MAX && low == INT16_MIN) {
        return edgec_sat16(x);
    }
    if (high == 511 && low == -512) {
        EDGEC_SATURATE(10, x, result);
        return result;
    }
    if (high == INT8_MAX && low == INT8_MIN) {
        EDGEC_SATURATE(8, x, result);
        return result;
    }
    if (high == INT8_MAX && low == -INT8_MAX) {
        __asm__("ssat %0, #8, %1\n\tcmn %0, #127\n\tit lt\n\tmvnlt %0, #126"
                : "=&r"(result)
                : "r"(x)
                : "cc");
        return result;
    }
#else
    if (high == INT8_MAX && (low == INT8_MIN || low == -INT8_MAX)) {
        /* One comparison where x is inside. */
        if (EDGEC_RARELY((uint32_t)x - (uint32_t)low > (uint32_t)(high - low))) {
            return (x < 0) ? low : high;
        }
        return x;
    }
#endif
    return edgec_clamp_s32(x, low, high);
}

/* rshr(sat16(acc >> pre_shift) * multiplier, shift); the shifts are constants. */
EDGEC_INLINE int32_t edgec_rescale(int32_t acc, int32_t multiplier, int32_t pre_shift,
                                   int32_t shift) {
    const int32_t narrow = edgec_sat16(acc >> pre_shift);
    return (narrow * multiplier + ((int32_t)1 << (shift - 1))) >> shift;
}

/* The same, limited to bounds within the type of the result; all but acc and multiplier are
 * constants. */
EDGEC_INLINE int8_t edgec_rescale_s8(int32_t acc, int32_t multiplier, int32_t pre_shift,
                                     int32_t shift, int32_t low, int32_t high) {
    return (int8_t)edgec_limit(edgec_rescale(acc, multiplier, pre_shift, shift), low, high);
}

EDGEC_INLINE int16_t edgec_rescale_s16(int32_t acc, int32_t multiplier, int32_t pre_shift,
                                       int32_t shift, int32_t low, int32_t high) {
    return (int16_t)edgec_limit(edgec_rescale(acc, multiplier, pre_shift, shift), low, high);
}

/* rshr(sat16((sum[i] + bias) >> pre_shift) * multiplier, shift) of four sums, two apart; limited to
 * BITS bits where these are not 0. */
typedef struct edgec_four {
    int32_t value[4];
} edgec_four_t;

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* The words that the assembly reads. */
typedef struct edgec_eight {
    int32_t value[8];
} __attribute__((may_alias)) edgec_eight_t;

#define EDGEC_RESCALE4(FOUR, SUM, BIAS, MULTIPLIER, PRE_SHIFT, SHIFT, BITS)                        \
    __asm__("ldr %0, [%4]\n"                                                                       \
            "ldr %1, [%4, #8]\n"                                                                   \
            "ldr %2, [%4, #16]\n"                                                                  \
            "ldr %3, [%4, #24]\n"                                                                  \
            "add %0, %0, %5\n"                                                                     \
            "add %1, %1, %5\n"                                                                     \
            "add %2, %2, %5\n"                                                                     \
            "add %3, %3, %5\n"                                                                     \
            ".if %c8\n"                                                                            \
            "ssat %0, #16, %0, asr #%c8\n"                                                         \
            "ssat %1, #16, %1, asr #%c8\n"                                                         \
            "ssat %2, #16, %2, asr #%c8\n"                                                         \
            "ssat %3, #16, %3, asr #%c8\n"                                                         \
            ".else\n"                                                                              \
            "ssat %0, #16, %0\n"                                                                   \
            "ssat %1, #16, %1\n"                                                                   \
            "ssat %2, #16, %2\n"                                                                   \
            "ssat %3, #16, %3\n"                                                                   \
            ".endif\n"                                                                             \
            "mla %0, %0, %6, %7\n"                                                                 \
            "mla %1, %1, %6, %7\n"                                                                 \
            "mla %2, %2, %6, %7\n"                                                                 \
            "mla %3, %3, %6, %7\n"                                                                 \
            ".if %c10\n"                                                                           \
            "ssat %0, %10, %0, asr #%c9\n"                                                         \
            "ssat %1, %10, %1, asr #%c9\n"                                                         \
            "ssat %2, %10, %2, asr #%c9\n"                                                         \
            "ssat %3, %10, %3, asr #%c9\n"                                                         \
            ".else\n"                                                                              \
            "asr %0, %0, %9\n"                                                                     \
            "asr %1, %1, %9\n"                                                                     \
            "asr %2, %2, %9\n"                                                                     \
            "asr %3, %3, %9\n"                                                                     \
            ".endif\n"                                                                             \
            : "=&r"((FOUR).value[0]), "=&r"((FOUR).value[1]), "=&r"((FOUR).value[2]),              \
              "=&r"((FOUR).value[3])                                                               \
            : "r"(SUM), "r"(BIAS), "r"((int32_t)(MULTIPLIER)), "r"(1 << ((SHIFT) - 1)),            \
              "i"(PRE_SHIFT), "i"(SHIFT), "i"(BITS), "m"(*(const edgec_eight_t *)(SUM)))
#else
/* x limited to `bits` bits, or as it is for 0. */
EDGEC_INLINE int32_t edgec_saturated(int32_t x, int32_t bits) {
    if (bits == 0) {
        return x;
    }
    const int32_t most = (int32_t)(((uint32_t)1 << (bits - 1)) - 1U);
    return edgec_clamp_s32(x, -most - 1, most);
}

#define EDGEC_RESCALE4(FOUR, SUM, BIAS, MULTIPLIER, PRE_SHIFT, SHIFT, BITS)                        \
    for (int32_t edgec_i = 0; edgec_i < 4; edgec_i++) {                                            \
        const int32_t edgec_sum = (SUM)[2 * edgec_i] + (BIAS);                                     \
        (FOUR).value[edgec_i] =                                                                    \
            edgec_saturated(edgec_rescale(edgec_sum, MULTIPLIER, PRE_SHIFT, SHIFT), BITS);         \
    }
#endif

/* Number of bits of x; 0 for 0. */
EDGEC_INLINE int32_t edgec_bit_length(uint32_t x) {
#if defined(__GNUC__) && __SIZEOF_INT__ == 4
    return (x == 0U) ? 0 : 32 - __builtin_clz(x);
#else
    int32_t bits = 0;
    for (uint32_t rest = x; rest != 0U; rest >>= 1) {
        bits++;
    }
    return bits;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
