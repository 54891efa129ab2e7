/* Codes of real numbers, and what codes say: for programs around a model, not for its kernels.
 *
 * The header of a model has functions with the model's own numbers on top of these.  All are static
 * and inline, so a program pays for what it calls only.
 */
#ifndef EDGEC_CODES_H
#define EDGEC_CODES_H

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "edgec's code is C11: compile it with -std=c11 or newer"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "edgec/edgec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A scale: mantissa * 2^exponent, the mantissa being at least 2^52 and below 2^53. */
typedef struct edgec_scale {
    uint64_t mantissa;
    uint32_t reciprocal; /* 2^55 / (mantissa / 2^29 + 2), both rounded down */
    int32_t exponent;
} edgec_scale_t;

/* Largest distance of a quotient from steps + 1/2 that double arithmetic rounds to it, in units of
 * 1 / (2 * mantissa): half of the distance between doubles there. */
static inline int64_t edgec_half_slack(uint32_t steps, uint64_t mantissa, bool is_negative) {
    if (steps == 0U) {
        /* The sum of 1/2 and the greatest double below it is rounded to 1. */
        return (!is_negative && mantissa > 6004799503160661ULL) ? 1 : 0;
    }
    uint32_t shift = 52U;
    for (uint32_t rest = steps; rest > 1U; rest >>= 1) {
        shift--;
    }
    return (int64_t)(mantissa >> shift);
}

/* The magnitude of real / scale, rounded to an integer, halves up (towards positive infinity), for
 * a magnitude of fraction * 2^(power + 29) / mantissa, 2^23 <= fraction < 2^24, -1 <= power <= 17.
 */
static inline uint32_t edgec_whole_steps(uint32_t fraction, int32_t power,
                                         const edgec_scale_t *scale, bool is_negative) {
    /* At most 2^-21 of it too small: so at most one step, and never a step too large. */
    const uint64_t product = (uint64_t)fraction * scale->reciprocal;
    const uint32_t shift = (uint32_t)(55 - power);
    const uint32_t steps = (uint32_t)((product + ((uint64_t)1 << (shift - 1U))) >> shift);
    /* Distance to steps + 1/2.  The terms may overflow, their difference does not. */
    const uint64_t half = (2U * (uint64_t)steps + 1U) * scale->mantissa;
    const int64_t missing = (int64_t)(half - ((uint64_t)fraction << (uint32_t)(power + 30)));
    const int64_t most = (int64_t)1
                         << 18; /* the slack of 2^18 steps, the most that there are here */
    const bool is_near = missing <= most && missing >= -most;
    const int64_t slack = is_near ? edgec_half_slack(steps, scale->mantissa, is_negative) : 0;
    const bool is_next = is_negative ? missing < -slack : missing <= slack;
    return steps + (is_next ? 1U : 0U);
}

/* The code of a real number: the nearest one, of two equally near ones the greater, and what lies
 * beyond them becomes the last one.  What is no number (NaN) has the code of zero.
 *
 * It is the code that edgec computes in double arithmetic, to the last bit, and yet in integers:
 * no floating-point library is linked, and the result is the same on every processor. */
static inline int32_t edgec_code_of(float real, const edgec_scale_t *scale, int32_t zero_point,
                                    int32_t low, int32_t high) {
    uint32_t bits = 0U;
    memcpy(&bits, &real, sizeof bits);
    const bool is_negative = (bits >> 31) != 0U;
    int32_t exponent = (int32_t)((bits >> 23) & 0xFFU);
    uint32_t fraction = bits & 0x7FFFFFU;
    const bool is_special = exponent == 255;
    if (fraction == 0U ? exponent == 0 : is_special) {
        return zero_point; /* zero, or no number */
    }
    if (exponent != 0) {
        fraction |= 0x800000U;
    } else {
        exponent = 1;
        while (fraction < 0x800000U) {
            fraction <<= 1;
            exponent--;
        }
    }
    const int32_t power = exponent - 179 - scale->exponent;
    if (power < -1) {
        return zero_point; /* less than half a step */
    }
    if (is_special || power > 17) {
        return is_negative ? low : high;
    }
    const int32_t steps = (int32_t)edgec_whole_steps(fraction, power, scale, is_negative);
    const int32_t code = zero_point + (is_negative ? -steps : steps);
    return code < low ? low : (code > high ? high : code);
}

/* Codes of `count` real numbers that share a scale, as int8 and as int16.  EDGEC_ERROR_NULL: there
 * are no numbers, or no place for their codes. */
static inline edgec_status_t edgec_quantize_s8(void *codes, const float *values, uint32_t count,
                                               const edgec_scale_t *scale, int32_t zero_point) {
    int8_t *const found = (int8_t *)codes;
    if (found == NULL || values == NULL) {
        return EDGEC_ERROR_NULL;
    }
    for (uint32_t i = 0U; i < count; i++) {
        found[i] = (int8_t)edgec_code_of(values[i], scale, zero_point, -128, 127);
    }
    return EDGEC_OK;
}

static inline edgec_status_t edgec_quantize_s16(void *codes, const float *values, uint32_t count,
                                                const edgec_scale_t *scale, int32_t zero_point) {
    int16_t *const found = (int16_t *)codes;
    if (found == NULL || values == NULL) {
        return EDGEC_ERROR_NULL;
    }
    for (uint32_t i = 0U; i < count; i++) {
        found[i] = (int16_t)edgec_code_of(values[i], scale, zero_point, -32768, 32767);
    }
    return EDGEC_OK;
}

/* The code of a real number as TensorFlow Lite finds it: the quotient in float, rounded, halves
 * away from zero; what lies beyond the codes becomes the last one.  NaN has the code of zero. */
static inline int32_t edgec_code_in_float(float real, float scale, int32_t zero_point, int32_t low,
                                          int32_t high) {
    const float most = 131072.0F; /* beyond all codes, whatever the zero point */
    const float steps = real / scale;
    if (steps >= most) {
        return high;
    }
    if (steps <= -most) {
        return low;
    }
    if (!(steps > -most)) {
        return zero_point; /* no number */
    }
    int32_t code = (int32_t)steps; /* towards zero */
    const float rest = steps - (float)code;
    code += (rest >= 0.5F) ? 1 : 0;
    code -= (rest <= -0.5F) ? 1 : 0;
    code += zero_point;
    return code < low ? low : (code > high ? high : code);
}

/* As edgec_quantize_s8 and edgec_quantize_s16, by edgec_code_in_float. */
static inline edgec_status_t edgec_quantize_float_s8(void *codes, const float *values,
                                                     uint32_t count, float scale,
                                                     int32_t zero_point) {
    int8_t *const found = (int8_t *)codes;
    if (found == NULL || values == NULL) {
        return EDGEC_ERROR_NULL;
    }
    for (uint32_t i = 0U; i < count; i++) {
        found[i] = (int8_t)edgec_code_in_float(values[i], scale, zero_point, -128, 127);
    }
    return EDGEC_OK;
}

static inline edgec_status_t edgec_quantize_float_s16(void *codes, const float *values,
                                                      uint32_t count, float scale,
                                                      int32_t zero_point) {
    int16_t *const found = (int16_t *)codes;
    if (found == NULL || values == NULL) {
        return EDGEC_ERROR_NULL;
    }
    for (uint32_t i = 0U; i < count; i++) {
        found[i] = (int16_t)edgec_code_in_float(values[i], scale, zero_point, -32768, 32767);
    }
    return EDGEC_OK;
}

/* The same for `features` that have a scale and a zero point each; `inner` values of one lie one
 * after the other, and after the last feature the first comes again.  Zero points may lie far
 * beyond the codes, so this computes in double arithmetic. */
static inline edgec_status_t edgec_quantize_features(void *codes, const float *values,
                                                     uint32_t count, uint32_t features,
                                                     uint32_t inner, const float *scales,
                                                     const int32_t *zero_points) {
    const double most = 1099511627776.0;
    int8_t *const found = (int8_t *)codes;
    uint32_t feature = 0U;
    uint32_t seen = 0U;
    if (found == NULL || values == NULL) {
        return EDGEC_ERROR_NULL;
    }
    for (uint32_t i = 0U; i < count; i++) {
        const float value = values[i] == values[i] ? values[i] : 0.0F;
        const double steps = (double)value / (double)scales[feature] + 0.5;
        const double above = steps > -most ? steps : -most;
        const double bounded = above < most ? above : most;
        int64_t code = (int64_t)bounded;
        if ((double)code > bounded) {
            code--; /* a cast rounds towards zero */
        }
        code += zero_points[feature];
        found[i] = (int8_t)(code < -128 ? -128 : (code > 127 ? 127 : code));
        seen++;
        if (seen == inner) {
            seen = 0U;
            feature = feature + 1U == features ? 0U : feature + 1U;
        }
    }
    return EDGEC_OK;
}

/* The index of the largest of `count` codes, of equal ones the first; 0 for none. */
static inline uint32_t edgec_argmax_s8(const int8_t *codes, uint32_t count) {
    uint32_t largest = 0U;
    for (uint32_t i = 1U; i < count; i++) {
        largest = codes[i] > codes[largest] ? i : largest;
    }
    return largest;
}

static inline uint32_t edgec_argmax_s16(const int16_t *codes, uint32_t count) {
    uint32_t largest = 0U;
    for (uint32_t i = 1U; i < count; i++) {
        largest = codes[i] > codes[largest] ? i : largest;
    }
    return largest;
}

#ifdef __cplusplus
}
#endif

#endif
