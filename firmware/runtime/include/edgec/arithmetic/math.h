/* The rounding, scaling and saturation of every kernel: edgec/base/fixedpoint.py in C.
 *
 * tests/unit/base/test_fixedpoint_c.py compares the two on all edges and a large random set.
 * Nothing else rounds.  All rounding is half up, once: rshr(x, n) = floor((x + 2^(n-1)) / 2^n).
 *
 * Shifts and multipliers are compile-time constants at almost every call, and the functions are
 * always inlined, so the branches on them cost nothing.
 */
#ifndef EDGEC_ARITHMETIC_MATH_H
#define EDGEC_ARITHMETIC_MATH_H

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "edgec's code is C11: compile it with -std=c11 or newer"
#endif

#include <assert.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EDGEC_INLINE static inline __attribute__((always_inline, unused))
#else
#define EDGEC_INLINE static inline
#endif

/* A function of its own: it needs all registers, or is called from many places. */
#if defined(__GNUC__)
#define EDGEC_SEPARATE __attribute__((noinline, unused)) static
#else
#define EDGEC_SEPARATE static inline
#endif

/* One that nearly fills a small cache of instructions: it begins with a line of such caches, which
 * have 32 bytes. */
#if defined(__GNUC__)
#define EDGEC_IN_LINES __attribute__((aligned(32))) EDGEC_SEPARATE
#else
#define EDGEC_IN_LINES EDGEC_SEPARATE
#endif

/* C leaves >> of negative numbers to the compiler; gcc, clang and every Arm compiler shift in the
 * sign, which is the floor that all of this rests on. */
static_assert(((int32_t)-3 >> 1) == -2, "right shifts must be arithmetic");
static_assert(((int64_t)-3 >> 1) == -2, "right shifts must be arithmetic");

/* Bound at which a requantized value saturates when the shift is below 32: far outside any int8
 * result, and small enough that adding a zero point cannot overflow. */
#define EDGEC_REQUANTIZE_LIMIT ((int32_t)1 << 30)

/* x limited to [low, high]; low <= high. */
EDGEC_INLINE int32_t edgec_clamp_s32(int32_t x, int32_t low, int32_t high) {
    const int32_t floored = (x < low) ? low : x;
    return (floored > high) ? high : floored;
}

/* The larger of two values. */
EDGEC_INLINE int32_t edgec_max_s32(int32_t a, int32_t b) {
    return (a > b) ? a : b;
}

/* The smaller of two values. */
EDGEC_INLINE int32_t edgec_min_s32(int32_t a, int32_t b) {
    return (a < b) ? a : b;
}

/* The floor of the square root, bit by bit. */
EDGEC_INLINE uint32_t edgec_root_u32(uint32_t x) {
    uint32_t root = 0U;
    uint32_t rest = x;
    for (uint32_t bit = UINT32_C(1) << 30; bit != 0U; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

/* The logarithm to base 2 of x >= 1 with 16 fraction bits, rounded down digit by digit. */
EDGEC_INLINE int32_t edgec_log2_q16(uint32_t x) {
    int32_t power = 31;
    uint32_t mantissa = x;
    while ((mantissa & UINT32_C(0x80000000)) == 0U) {
        mantissa <<= 1;
        power--;
    }
    for (int32_t i = 0; i < 16; i++) {
        const uint64_t square = ((uint64_t)mantissa * mantissa) >> 31;
        const uint32_t digit = (uint32_t)(square >> 32);
        mantissa = (uint32_t)(square >> digit);
        power = power * 2 + (int32_t)digit;
    }
    return power;
}

/* rshr on 32 bits: shift in [0, 31], x + 2^(shift-1) <= INT32_MAX. */
EDGEC_INLINE int32_t edgec_rshr32(int32_t x, int32_t shift) {
    if (shift == 0) {
        return x;
    }
    return (x + ((int32_t)1 << (shift - 1))) >> shift;
}

/* rshr on 64 bits: shift in [1, 62], x + 2^(shift-1) <= INT64_MAX. */
EDGEC_INLINE int64_t edgec_rshr64(int64_t x, int32_t shift) {
    return (x + ((int64_t)1 << (shift - 1))) >> shift;
}

/* Armv6-M has no product of more than 32 bits; four of 16-bit halves are three times as fast as the
 * compiler's library.  May be defined from outside, for tests on other computers. */
#if !defined(EDGEC_HALF_PRODUCTS)
#if defined(__ARM_ARCH_6M__)
#define EDGEC_HALF_PRODUCTS 1
#else
#define EDGEC_HALF_PRODUCTS 0
#endif
#endif

/* Inlined, the products below would take the few registers that the loops around them need. */
#if EDGEC_HALF_PRODUCTS && defined(__GNUC__)
#define EDGEC_PRODUCT __attribute__((noinline, unused)) static
#else
#define EDGEC_PRODUCT EDGEC_INLINE
#endif

/* floor((a * b + 2^16 * half) / 2^32): half in [0, 2^15], any a, |b| < 2^31. */
EDGEC_PRODUCT int32_t edgec_high_product(int32_t a, int32_t b, int32_t half) {
#if EDGEC_HALF_PRODUCTS
    const uint32_t a_low = (uint32_t)a & 0xFFFFU;
    const uint32_t b_low = (uint32_t)b & 0xFFFFU;
    const int32_t inner = (a >> 16) * (int32_t)b_low + (int32_t)((a_low * b_low) >> 16);
    const int32_t outer = (int32_t)a_low * (b >> 16);
    const int32_t carry = ((inner & 0xFFFF) + (outer & 0xFFFF) + half) >> 16;
    return (a >> 16) * (b >> 16) + (inner >> 16) + (outer >> 16) + carry;
#else
    return (int32_t)(((int64_t)a * b + ((int64_t)half << 16)) >> 32);
#endif
}

/* rshr(acc * multiplier, shift): shift in [1, 62], any acc, |multiplier| < 2^31.
 *
 * Exact when shift >= 32, where the result is within +-2^30.  Below 32 the result saturates at
 * +-EDGEC_REQUANTIZE_LIMIT, which no clamp to int8 can tell from the exact value. */
EDGEC_INLINE int32_t edgec_requantize(int32_t acc, int32_t multiplier, int32_t shift) {
    if (shift == 32) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
        int32_t high;
        __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(acc), "r"(multiplier));
        return high;
#else
        return edgec_high_product(acc, multiplier, INT32_C(1) << 15);
#endif
    }
    if (shift > 32) {
        /* The low word cannot change the result: 2^(shift-1) has no bits there. */
        return edgec_rshr32(edgec_high_product(acc, multiplier, 0), shift - 32);
    }
    const int64_t rounded = edgec_rshr64((int64_t)acc * multiplier, shift);
    if (rounded > EDGEC_REQUANTIZE_LIMIT) {
        return EDGEC_REQUANTIZE_LIMIT;
    }
    return (rounded < -EDGEC_REQUANTIZE_LIMIT) ? -EDGEC_REQUANTIZE_LIMIT : (int32_t)rounded;
}

/* x limited to [low, high] within int8; one instruction where that is int8 as a whole. */
EDGEC_INLINE int8_t edgec_clamp_s8(int32_t x, int32_t low, int32_t high) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_SAT)
    if (__builtin_constant_p(low == INT8_MIN && high == INT8_MAX) && low == INT8_MIN &&
        high == INT8_MAX) {
        int32_t code;
        __asm__("ssat %0, #8, %1" : "=r"(code) : "r"(x));
        return (int8_t)code;
    }
#elif defined(__GNUC__)
    if (__builtin_constant_p(low == INT8_MIN && high == INT8_MAX) && low == INT8_MIN &&
        high == INT8_MAX) {
        /* One comparison where x is inside. */
        uint32_t code = (uint32_t)x + 128U;
        if (__builtin_expect(code > 255U, 0)) {
            code = ~(uint32_t)(x >> 31) & 255U;
        }
        return (int8_t)((int32_t)code - 128);
    }
#endif
    return (int8_t)edgec_clamp_s32(x, low, high);
}

/* x limited to [low, high], codes of int8 or int16; one instruction where these are all codes. */
EDGEC_INLINE int32_t edgec_code(int32_t x, int32_t low, int32_t high) {
#if defined(__GNUC__)
    if (__builtin_constant_p(low == INT8_MIN && high == INT8_MAX) && low == INT8_MIN &&
        high == INT8_MAX) {
        return edgec_clamp_s8(x, low, high);
    }
#if defined(__ARM_FEATURE_SAT)
    if (__builtin_constant_p(low == INT16_MIN && high == INT16_MAX) && low == INT16_MIN &&
        high == INT16_MAX) {
        int32_t code;
        __asm__("ssat %0, #16, %1" : "=r"(code) : "r"(x));
        return code;
    }
#endif
#endif
    return edgec_clamp_s32(x, low, high);
}

/* x >> shift limited to [low, high] within int8; one instruction where that is int8 as a whole and
 * the shift is a constant. */
EDGEC_INLINE int8_t edgec_shifted_s8(int32_t x, int32_t shift, int32_t low, int32_t high) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__ARM_FEATURE_SAT)
    if (__builtin_constant_p(shift) && __builtin_constant_p(low == INT8_MIN && high == INT8_MAX) &&
        low == INT8_MIN && high == INT8_MAX && shift > 0) {
        int32_t code;
        __asm__("ssat %0, #8, %1, asr %2" : "=r"(code) : "r"(x), "i"(shift));
        return (int8_t)code;
    }
#endif
    return edgec_clamp_s8(x >> shift, low, high);
}

/* clamp(zero_point + requantize(acc)): the code of an accumulator, int8 or int16. */
EDGEC_INLINE int32_t edgec_requantize_code(int32_t acc, int32_t multiplier, int32_t shift,
                                           int32_t zero_point, int32_t low, int32_t high) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    if (shift == 32) {
        int32_t code;
        __asm__("smmlar %0, %1, %2, %3" : "=r"(code) : "r"(acc), "r"(multiplier), "r"(zero_point));
        return edgec_code(code, low, high);
    }
#endif
    const int32_t scaled = edgec_requantize(acc, multiplier, shift);
    return edgec_code(zero_point + scaled, low, high);
}

/* The same within int8. */
EDGEC_INLINE int8_t edgec_requantize_s8(int32_t acc, int32_t multiplier, int32_t shift,
                                        int32_t zero_point, int32_t act_min, int32_t act_max) {
    return (int8_t)edgec_requantize_code(acc, multiplier, shift, zero_point, act_min, act_max);
}

/* The same within int16. */
EDGEC_INLINE int16_t edgec_requantize_s16(int32_t acc, int32_t multiplier, int32_t shift,
                                          int32_t zero_point, int32_t act_min, int32_t act_max) {
    const int32_t scaled = edgec_requantize(acc, multiplier, shift);
    return (int16_t)edgec_clamp_s32(zero_point + scaled, act_min, act_max);
}

/* The same within all codes of int16 but the least one, whatever the bounds: three instructions in
 * place of two comparisons. */
EDGEC_INLINE int16_t edgec_requantize_even_s16(int32_t acc, int32_t multiplier, int32_t shift,
                                               int32_t zero_point, int32_t act_min,
                                               int32_t act_max) {
    (void)act_min;
    (void)act_max;
    const int32_t code = zero_point + edgec_requantize(acc, multiplier, shift);
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
    uint32_t less;
    __asm__("ssat %0, #16, %1\n\tqsub16 %0, %0, %2" : "=&r"(less) : "r"(code), "r"(1));
    return (int16_t)(uint16_t)(less + 1U);
#else
    return (int16_t)edgec_clamp_s32(code, -INT16_MAX, INT16_MAX);
#endif
}

/* The numbers of an integer addition: ir/qops/add.py, AddParams, which states the bound that keeps
 * all of it within int32.  Declare it `static const`, and every field becomes an immediate. */
typedef struct edgec_add_params {
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t a_multiplier;
    int32_t b_multiplier;
    int32_t shift; /* 0..31 */
    int32_t y_zero_point;
    int32_t act_min;
    int32_t act_max;
} edgec_add_params_t;

/* clamp(zy + rshr((a - za) * ma + (b - zb) * mb, shift)) of two codes. */
EDGEC_INLINE int32_t edgec_add_once(int32_t a, int32_t b, const edgec_add_params_t *params,
                                    int32_t shift) {
    /* The zero points as one constant, so that an element costs two multiply-accumulates. */
    const int32_t constant = -(params->a_zero_point * params->a_multiplier +
                               params->b_zero_point * params->b_multiplier);
    const int32_t sum = a * params->a_multiplier + b * params->b_multiplier + constant;
    const int32_t rounded = edgec_rshr32(sum, shift);
    return edgec_clamp_s32(params->y_zero_point + rounded, params->act_min, params->act_max);
}

/* The same of int8 codes, with the shift of the struct. */
EDGEC_INLINE int8_t edgec_add_s8(int32_t a, int32_t b, const edgec_add_params_t *params) {
    return (int8_t)edgec_add_once(a, b, params, params->shift);
}

#ifdef __cplusplus
}
#endif

#endif
