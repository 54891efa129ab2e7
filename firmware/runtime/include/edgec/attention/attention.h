/* Softmax attention: exponentials and the scale of a row, ir/qops/attention.py, QAttention. */
#ifndef EDGEC_ATTENTION_ATTENTION_H
#define EDGEC_ATTENTION_ATTENTION_H

#include <stdint.h>

#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/arithmetic/params.h"
#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of a head. */
typedef struct edgec_attention_head {
    int32_t distance_multiplier;
    int32_t distance_limit;
    int32_t numerator;
    int32_t output_shift;
} edgec_attention_head_t;

/* Scale of a row of sums: y = rshr(sat16(rshr(A, shift)) * reciprocal, 21). */
typedef struct edgec_attention_scale {
    int32_t half; /* 2^(shift-1), or 0 where shift is 0 */
    int32_t shift;
    int32_t reciprocal;
} edgec_attention_scale_t;

/* EXP[i] = round(32767 * 2^(-i/32)) in the lower half, EXP[i] - EXP[i + 1] in the upper one. */
static const uint32_t edgec_exp_segments[32] = {
    0x02BE7FFFU, 0x02AF7D41U, 0x02A17A92U, 0x029277F1U, 0x0283755FU, 0x027672DCU, 0x02697066U,
    0x025B6DFDU, 0x024F6BA2U, 0x02426953U, 0x02356711U, 0x022964DCU, 0x021E62B3U, 0x02116095U,
    0x02075E84U, 0x01FB5C7DU, 0x01F15A82U, 0x01E65891U, 0x01DB56ABU, 0x01D154D0U, 0x01C852FFU,
    0x01BD5137U, 0x01B44F7AU, 0x01AB4DC6U, 0x01A14C1BU, 0x01994A7AU, 0x018F48E1U, 0x01884752U,
    0x017F45CAU, 0x0176444BU, 0x016F42D5U, 0x01664166U,
};

/* The numbers of head `index`. */
EDGEC_INLINE edgec_attention_head_t edgec_attention_head(const edgec_attention_params_t *params,
                                                         int32_t index) {
    const int32_t *const from = params->heads + 4 * index;
    const edgec_attention_head_t head = {from[0], from[1], from[2], from[3]};
    return head;
}

/* The dot product of two vectors of int8. */
EDGEC_INLINE int32_t edgec_dot_s8(const int8_t *a, const int8_t *b, int32_t width) {
    int32_t sum = 0;
    int32_t d = 0;
    for (; d < width - 3; d += 4) {
        sum += a[d] * b[d];
        sum += a[d + 1] * b[d + 1];
        sum += a[d + 2] * b[d + 2];
        sum += a[d + 3] * b[d + 3];
    }
    for (; d < width; d++) {
        sum += a[d] * b[d];
    }
    return sum;
}

/* Columns whose weighted sums are computed together. */
#define EDGEC_VALUE_COLUMNS 4

/* sums[e] = sum over the keys of weight * value: `columns` columns, 1 to 4, of rows `stride` apart.
 */
EDGEC_INLINE void edgec_weighted_values(const edgec_s16_t *weights, const int8_t *values,
                                        int32_t keys, int32_t stride, int32_t columns,
                                        int32_t *sums) {
    if (columns == EDGEC_VALUE_COLUMNS) {
        int32_t first = 0;
        int32_t second = 0;
        int32_t third = 0;
        int32_t fourth = 0;
        for (int32_t j = 0; j < keys; j++, values += stride) {
            const int32_t weight = weights[j];
            first += weight * values[0];
            second += weight * values[1];
            third += weight * values[2];
            fourth += weight * values[3];
        }
        sums[0] = first;
        sums[1] = second;
        sums[2] = third;
        sums[3] = fourth;
        return;
    }
    for (int32_t e = 0; e < columns; e++) {
        sums[e] = 0;
    }
    for (int32_t j = 0; j < keys; j++, values += stride) {
        for (int32_t e = 0; e < columns; e++) {
            sums[e] += weights[j] * values[e];
        }
    }
}

/* The distances of a row's logits from its maximum, scaled: their octaves in the bits 26 and up,
 * the segment in 21 to 25, the place within it in 15 to 20.  A logit at `threshold` or below has
 * `most`. */
typedef struct edgec_attention_line {
    int32_t threshold;
    int32_t multiplier;
    uint32_t most;
} edgec_attention_line_t;

/* Scale of the logits of a row; the octaves include 15 - exp_bits. */
EDGEC_INLINE edgec_attention_line_t edgec_attention_line(int32_t highest,
                                                         const edgec_attention_head_t *head,
                                                         int32_t exp_bits) {
    const int32_t limit = head->distance_limit;
    const edgec_attention_line_t line = {
        (int32_t)((uint32_t)highest - (uint32_t)limit), /* of a row without keys, anything */
        head->distance_multiplier,
        (uint32_t)(limit * head->distance_multiplier + (1 << 14)) +
            ((uint32_t)(15 - exp_bits) << 26),
    };
    return line;
}

/* Twice 2^-t of a logit, before the last rounding: E of the definition is (this + 1) >> 1. */
EDGEC_INLINE uint32_t edgec_twice_exponential(int32_t logit, edgec_attention_line_t line) {
    const int32_t above = (int32_t)((uint32_t)logit - (uint32_t)line.threshold);
    const int32_t less = above & ~(above >> 31);
    const uint32_t scaled = line.most - (uint32_t)(less * line.multiplier);
    const uint32_t segment = edgec_exp_segments[(scaled >> 21) & 31U];
    /* The distance within the segment times the chord's slope, rounded. */
    const int32_t chord = edgec_high_low(segment, (scaled >> 15) & 63U, 32) >> 6;
    const uint32_t value = (segment & 0xFFFFU) - (uint32_t)chord;
    return (value << 1) >> (scaled >> 26);
}

/* E of a logit. */
EDGEC_INLINE int32_t edgec_exponential(int32_t logit, edgec_attention_line_t line) {
    return (int32_t)((edgec_twice_exponential(logit, line) + 1U) >> 1);
}

/* The exponentials of pairs of logits as words in place of the first of them, from `pair` on, a
 * pair every 8 words up to `end`, which is not the start; their sum. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
EDGEC_SEPARATE int32_t edgec_exponential_pairs(edgec_s32_t *pair, const edgec_s32_t *end,
                                               const edgec_attention_line_t *line,
                                               const uint32_t *segments) {
    register edgec_s32_t *from __asm__("r0") = pair;
    register const edgec_s32_t *to __asm__("r1") = end;
    register const edgec_attention_line_t *numbers __asm__("r2") = line;
    register const uint32_t *table __asm__("r3") = segments;
    /* Threshold, multiplier and most in r4-r6, 32 in r7, two ones in r8, the sum in r9. */
    __asm__ volatile("push {r4-r11, lr}\n"
                     "ldm r2, {r4-r6}\n"
                     "mov r7, #32\n"
                     "mov r8, #0x00010001\n"
                     "mov r9, #0\n"
                     "1:\n"
                     "ldr r10, [r0]\n"
                     "ldr r11, [r0, #4]\n"
                     "sub r10, r10, r4\n"
                     "sub r11, r11, r4\n"
                     "bic r10, r10, r10, asr #31\n"
                     "bic r11, r11, r11, asr #31\n"
                     "mls r10, r10, r5, r6\n"
                     "mls r11, r11, r5, r6\n"
                     "ubfx r12, r10, #21, #5\n"
                     "ubfx lr, r11, #21, #5\n"
                     "ldr r12, [r3, r12, lsl #2]\n"
                     "ldr lr, [r3, lr, lsl #2]\n"
                     "ubfx r2, r10, #15, #6\n"
                     "smlatb r2, r12, r2, r7\n"
                     "uxth r12, r12\n"
                     "sub r12, r12, r2, asr #6\n"
                     "ubfx r2, r11, #15, #6\n"
                     "smlatb r2, lr, r2, r7\n"
                     "uxth lr, lr\n"
                     "sub lr, lr, r2, asr #6\n"
                     "lsr r10, r10, #26\n"
                     "lsl r12, r12, #1\n"
                     "lsr r12, r12, r10\n"
                     "lsr r11, r11, #26\n"
                     "lsl lr, lr, #1\n"
                     "lsr lr, lr, r11\n"
                     "pkhbt r12, r12, lr, lsl #16\n"
                     "uhadd16 r12, r12, r8\n"
                     "smlad r9, r12, r8, r9\n"
                     "str r12, [r0], #32\n"
                     "cmp r0, r1\n"
                     "bne 1b\n"
                     "mov r0, r9\n"
                     "pop {r4-r11, lr}\n"
                     : "+r"(from), "+r"(to), "+r"(numbers), "+r"(table)
                     :
                     : "r12", "memory", "cc");
    return (int32_t)(uintptr_t)from;
}
#else
EDGEC_SEPARATE int32_t edgec_exponential_pairs(edgec_s32_t *pair, const edgec_s32_t *end,
                                               const edgec_attention_line_t *line,
                                               const uint32_t *segments) {
    int32_t sum = 0;
    (void)segments;
    for (; pair != end; pair += 8) {
        const uint32_t first = (uint32_t)edgec_exponential(pair[0], *line);
        const uint32_t second = (uint32_t)edgec_exponential(pair[1], *line);
        pair[0] = (int32_t)(first | (second << 16));
        sum += (int32_t)(first + second);
    }
    return sum;
}
#endif

/* The greatest of a number and two logits. */
EDGEC_INLINE int32_t edgec_highest(int32_t highest, const edgec_s32_t *pair) {
    const int32_t first = pair[0];
    const int32_t second = pair[1];
    return edgec_max_s32(edgec_max_s32(highest, first), second);
}

/* Adds its bias to each logit of one of four queries, laid out as for `edgec_attention_row`: of the
 * different numbers of a head, in `steps`, key j gets the one at place[j]. */
EDGEC_SEPARATE void edgec_attention_bias(edgec_s32_t *logits, int32_t pairs, int32_t odd,
                                         const edgec_s32_t *steps, const edgec_s16_t *place) {
    for (int32_t p = 0; p < pairs; p++) {
        /* The last pair of an odd number of keys starts a key earlier. */
        const edgec_s16_t *const two = place + 2 * p - ((p == pairs - 1) ? odd : 0);
        logits[8 * p] += steps[two[0]];
        logits[8 * p + 1] += steps[two[1]];
    }
}

/* The exponentials of one of four queries in place of its logits, and their sum.
 *
 * Logits and exponentials of four queries take turns, [pairs of keys][4 queries][2 keys]; those of
 * two keys are the lower word of the pair's two.  `odd`: the first key of the last pair takes no
 * part, for it is the second of the one before. */
EDGEC_SEPARATE uint32_t edgec_attention_row(edgec_s32_t *logits, int32_t pairs, int32_t odd,
                                            const edgec_attention_head_t *head, int32_t exp_bits) {
    edgec_s32_t *const end = logits + 8 * pairs;
    /* Two pairs a turn; where their number is odd, the first one stands alone. */
    edgec_s32_t *const start = logits + 8 * (pairs % 2);
    int32_t highest = edgec_highest(INT32_MIN, logits);
    for (const edgec_s32_t *pair = start; pair != end; pair += 16) {
        highest = edgec_highest(highest, pair);
        highest = edgec_highest(highest, pair + 8);
    }
    const edgec_attention_line_t line = edgec_attention_line(highest, head, exp_bits);
    int32_t sum = edgec_exponential_pairs(logits, end, &line, edgec_exp_segments);
    if (odd != 0) {
        const uint32_t last = (uint32_t)end[-8];
        sum -= (int32_t)(last & 0xFFFFU);
        end[-8] = (int32_t)(last & 0xFFFF0000U);
    }
    return (uint32_t)sum;
}

/* Takes bits from the exponentials of a row whose sum has too many for products with int8; the sum
 * of what they are then.  They lie in `runs` runs of `run` neighbours, `step` elements apart. */
EDGEC_SEPARATE uint32_t edgec_trimmed_weights(edgec_s16_t *weights, int32_t runs, int32_t run,
                                              int32_t step, uint32_t sum) {
    const int32_t excess = edgec_bit_length(sum + (UINT32_C(1) << 16)) - 24;
    if (excess <= 0) {
        return sum;
    }
    const int32_t half = (int32_t)1 << (excess - 1);
    uint32_t total = 0;
    for (int32_t n = 0; n < runs; n++, weights += step) {
        for (int32_t j = 0; j < run; j++) {
            const int32_t weight = (weights[j] + half) >> excess;
            weights[j] = (edgec_s16_t)weight;
            total += (uint32_t)weight;
        }
    }
    return total;
}

/* The scale of a row whose exponentials sum up to `sum`; all of it 0 for a row without keys. */
EDGEC_INLINE edgec_attention_scale_t edgec_attention_scale(uint32_t sum,
                                                           const edgec_attention_head_t *head) {
    edgec_attention_scale_t scale = {0, 0, 0};
    if (sum != 0U) {
        const int32_t excess = edgec_bit_length(sum) - 16;
        const uint32_t divisor = (excess >= 0) ? sum >> excess : sum << -excess;
        scale.reciprocal = (int32_t)(((uint32_t)head->numerator + divisor / 2U) / divisor);
        scale.shift = excess + head->output_shift;
        scale.half = (scale.shift > 0) ? (int32_t)1 << (scale.shift - 1) : 0;
    }
    return scale;
}

/* An output from its sum of products A. */
EDGEC_INLINE int8_t edgec_attention_code(int32_t sum, edgec_attention_scale_t scale) {
    const int32_t narrow = edgec_sat16((sum + scale.half) >> scale.shift);
    const int32_t scaled = (narrow * scale.reciprocal + (INT32_C(1) << 20)) >> 21;
    return (int8_t)edgec_limit(scaled, -INT8_MAX, INT8_MAX);
}

#ifdef __cplusplus
}
#endif

#endif
