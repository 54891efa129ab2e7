/* The exponentials of attention with NEON, eight at a time, as attention.h defines them.
 *
 * Only kernels for cores with NEON use these functions.
 */
#ifndef EDGEC_ATTENTION_EXPONENTIALS_NEON_H
#define EDGEC_ATTENTION_EXPONENTIALS_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "edgec/attention/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sum of four lanes. */
EDGEC_INLINE uint32_t edgec_neon_total(uint32x4_t lanes) {
#if defined(__aarch64__)
    return vaddvq_u32(lanes);
#else
    const uint32x2_t pair = vadd_u32(vget_low_u32(lanes), vget_high_u32(lanes));
    return vget_lane_u32(vpadd_u32(pair, pair), 0);
#endif
}

/* edgec_attention_line_t for lanes: distances as `most` - max(logit, threshold) * multiplier, twice
 * as large, so that the upper half of a word holds octaves (5 bits), segment (5 bits) and place
 * within it (6 bits). */
typedef struct edgec_neon_line {
    int32_t threshold;
    uint32_t multiplier;
    uint32_t most;
} edgec_neon_line_t;

EDGEC_INLINE edgec_neon_line_t edgec_neon_line(edgec_attention_line_t line) {
    const uint32_t multiplier = 2U * (uint32_t)line.multiplier;
    const edgec_neon_line_t lanes = {
        line.threshold,
        multiplier,
        2U * line.most + (uint32_t)line.threshold * multiplier,
    };
    return lanes;
}

/* The halves of edgec_exp_segments, each for itself: all EXP[i], then all EXP[i] - EXP[i + 1]. */
static const uint16_t edgec_exp_halves[64] = {
    0x7FFF, 0x7D41, 0x7A92, 0x77F1, 0x755F, 0x72DC, 0x7066, 0x6DFD, 0x6BA2, 0x6953, 0x6711,
    0x64DC, 0x62B3, 0x6095, 0x5E84, 0x5C7D, 0x5A82, 0x5891, 0x56AB, 0x54D0, 0x52FF, 0x5137,
    0x4F7A, 0x4DC6, 0x4C1B, 0x4A7A, 0x48E1, 0x4752, 0x45CA, 0x444B, 0x42D5, 0x4166, 0x02BE,
    0x02AF, 0x02A1, 0x0292, 0x0283, 0x0276, 0x0269, 0x025B, 0x024F, 0x0242, 0x0235, 0x0229,
    0x021E, 0x0211, 0x0207, 0x01FB, 0x01F1, 0x01E6, 0x01DB, 0x01D1, 0x01C8, 0x01BD, 0x01B4,
    0x01AB, 0x01A1, 0x0199, 0x018F, 0x0188, 0x017F, 0x0176, 0x016F, 0x0166,
};

/* The exponentials of `groups` times eight logits, one or more, over these or elsewhere; lanes of
 * their sum.  In assembly: compilers copy tables of four registers before each look-up. */
#if defined(__GNUC__) && defined(__aarch64__)
/* Values in v24-v27, steps in v28-v31: bytes 2 i and 2 i + 1 of both are looked up. */
EDGEC_INLINE uint32x4_t edgec_neon_exponentials(const edgec_s32_t *logits, int32_t groups,
                                                edgec_attention_line_t line, edgec_s16_t *to) {
    const edgec_neon_line_t lanes = edgec_neon_line(line);
    const uint16_t *table = edgec_exp_halves;
    uint32x4_t sum = vdupq_n_u32(0);
    __asm__ volatile("ld1 {v24.16b-v27.16b}, [%[table]], #64\n"
                     "ld1 {v28.16b-v31.16b}, [%[table]]\n"
                     "dup v5.4s, %w[threshold]\n"
                     "dup v6.4s, %w[multiplier]\n"
                     "dup v7.4s, %w[most]\n"
                     "movi v16.8h, #62\n"
                     "movi v17.8h, #63\n"
                     "1:\n"
                     "ldp q0, q1, [%[from]], #32\n"
                     "mov v2.16b, v7.16b\n"
                     "mov v3.16b, v7.16b\n"
                     "smax v0.4s, v0.4s, v5.4s\n"
                     "smax v1.4s, v1.4s, v5.4s\n"
                     "mls v2.4s, v0.4s, v6.4s\n"
                     "mls v3.4s, v1.4s, v6.4s\n"
                     "uzp2 v2.8h, v2.8h, v3.8h\n"
                     "ushr v0.8h, v2.8h, #5\n"
                     "and v0.16b, v0.16b, v16.16b\n"
                     "sli v0.8h, v0.8h, #8\n"
                     "orr v0.8h, #1, lsl #8\n"
                     "tbl v3.16b, {v28.16b-v31.16b}, v0.16b\n"
                     "and v4.16b, v2.16b, v17.16b\n"
                     "tbl v1.16b, {v24.16b-v27.16b}, v0.16b\n"
                     "ushr v2.8h, v2.8h, #11\n"
                     "mul v3.8h, v3.8h, v4.8h\n"
                     "neg v2.8h, v2.8h\n"
                     "urshr v3.8h, v3.8h, #6\n"
                     "sub v1.8h, v1.8h, v3.8h\n"
                     "urshl v1.8h, v1.8h, v2.8h\n"
                     "subs %w[groups], %w[groups], #1\n"
                     "uadalp %[sum].4s, v1.8h\n"
                     "str q1, [%[to]], #16\n"
                     "b.ne 1b\n"
                     : [sum] "+w"(sum), [from] "+r"(logits), [to] "+r"(to), [groups] "+r"(groups),
                       [table] "+r"(table)
                     : [threshold] "r"(lanes.threshold), [multiplier] "r"(lanes.multiplier),
                       [most] "r"(lanes.most)
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v24", "v25",
                       "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
    return sum;
}
#elif defined(__GNUC__)
/* Low and high bytes of values in q8-q9 and q10-q11, those of steps in q12-q13 and q14-q15. */
EDGEC_INLINE uint32x4_t edgec_neon_exponentials(const edgec_s32_t *logits, int32_t groups,
                                                edgec_attention_line_t line, edgec_s16_t *to) {
    const edgec_neon_line_t lanes = edgec_neon_line(line);
    const edgec_neon_line_t *numbers = &lanes;
    const uint16_t *table = edgec_exp_halves;
    register uint32x4_t sum __asm__("q3");
    __asm__ volatile("vld2.8 {d16-d19}, [%[table]]!\n"
                     "vld2.8 {d20-d23}, [%[table]]!\n"
                     "vld2.8 {d24-d27}, [%[table]]!\n"
                     "vld2.8 {d28-d31}, [%[table]]\n"
                     "vswp q9, q10\n"
                     "vswp q13, q14\n"
                     "vld1.32 {d0[], d1[]}, [%[line]]!\n"
                     "vld1.32 {d2[]}, [%[line]]!\n"
                     "vld1.32 {d4[], d5[]}, [%[line]]\n"
                     "vmov.i8 d3, #31\n"
                     "vmov.i32 q3, #0\n"
                     "1:\n"
                     "vld1.32 {d8-d11}, [%[from]]!\n"
                     "vmax.s32 q4, q4, q0\n"
                     "vmax.s32 q5, q5, q0\n"
                     "vmul.i32 q4, q4, d2[0]\n"
                     "vmul.i32 q5, q5, d2[0]\n"
                     "vsub.i32 q4, q2, q4\n"
                     "vsub.i32 q5, q2, q5\n"
                     "vshrn.i32 d8, q4, #16\n"
                     "vshrn.i32 d9, q5, #16\n"
                     "vmov.i16 q7, #63\n"
                     "vshrn.i16 d10, q4, #6\n"
                     "vand d10, d10, d3\n"
                     "vand q7, q7, q4\n"
                     "vtbl.8 d12, {d16-d19}, d10\n"
                     "vtbl.8 d13, {d20-d23}, d10\n"
                     "vtbl.8 d11, {d28-d31}, d10\n"
                     "vtbl.8 d10, {d24-d27}, d10\n"
                     "vzip.8 d12, d13\n"
                     "vzip.8 d10, d11\n"
                     "vshr.u16 q4, q4, #11\n"
                     "vmul.i16 q5, q5, q7\n"
                     "vneg.s16 q4, q4\n"
                     "vrshr.u16 q5, q5, #6\n"
                     "vsub.i16 q6, q6, q5\n"
                     "vrshl.u16 q6, q6, q4\n"
                     "subs %[groups], %[groups], #1\n"
                     "vpadal.u16 q3, q6\n"
                     "vst1.16 {d12-d13}, [%[to]]!\n"
                     "bne 1b\n"
                     : "=w"(sum), [from] "+r"(logits), [to] "+r"(to), [groups] "+r"(groups),
                       [table] "+r"(table), [line] "+r"(numbers)
                     :
                     : "q0", "q1", "q2", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12",
                       "q13", "q14", "q15", "cc", "memory");
    return sum;
}
#else
EDGEC_INLINE uint32x4_t edgec_neon_exponentials(const edgec_s32_t *logits, int32_t groups,
                                                edgec_attention_line_t line, edgec_s16_t *to) {
    uint32_t sum = 0;
    for (int32_t j = 0; j < 8 * groups; j++) {
        const int32_t weight = edgec_exponential(logits[j], line);
        to[j] = (edgec_s16_t)weight;
        sum += (uint32_t)weight;
    }
    return vsetq_lane_u32(sum, vdupq_n_u32(0), 0);
}
#endif

/* Sets eight exponentials to 0 where `valid` is 0, else -1; adds the others. */
EDGEC_INLINE uint32x4_t edgec_neon_masked(edgec_s16_t *weights, const int16_t *valid,
                                          uint32x4_t sum) {
    const int16x8_t kept = vandq_s16(vld1q_s16(weights), vld1q_s16(valid));
    vst1q_s16(weights, kept);
    return vpadalq_u16(sum, vreinterpretq_u16_s16(kept));
}

/* The exponentials of a row of `keys` logits over these, those up to the next multiple of 8 being
 * 0; their sum.  `valid`: 0 for the keys that take no part, -1 for the others, up to a multiple of
 * 8; NULL: all keys take part. */
EDGEC_SEPARATE uint32_t edgec_neon_row(edgec_s32_t *logits, int32_t keys, const edgec_s16_t *valid,
                                       int32_t highest, const edgec_attention_head_t *head,
                                       int32_t exp_bits) {
    static const int16_t first[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const edgec_attention_line_t line = edgec_attention_line(highest, head, exp_bits);
    edgec_s16_t *const to = (edgec_s16_t *)(void *)logits;
    const int32_t rest = keys % 8;
    uint32x4_t sum = vdupq_n_u32(0);
    if (valid != NULL) {
        (void)edgec_neon_exponentials(logits, (keys + 7) / 8, line, to);
        for (int32_t j = 0; j < keys; j += 8) {
            sum = edgec_neon_masked(to + j, valid + j, sum);
        }
        return edgec_neon_total(sum);
    }
    if (keys >= 8) {
        sum = edgec_neon_exponentials(logits, keys / 8, line, to);
    }
    if (rest > 0) {
        (void)edgec_neon_exponentials(logits + keys - rest, 1, line, to + keys - rest);
        sum = edgec_neon_masked(to + keys - rest, first + 8 - rest, sum);
    }
    return edgec_neon_total(sum);
}

#ifdef __cplusplus
}
#endif

#endif
#endif
