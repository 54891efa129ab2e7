/* Sums of two runs of int8 codes, four at a time. */
#ifndef EDGEC_ELEMENTWISE_ADD_S8_H
#define EDGEC_ELEMENTWISE_ADD_S8_H

#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of an addition in a run: zero points and rounding are joined into one constant. */
typedef struct edgec_add_runs {
    int32_t start;
    int32_t a_multiplier;
    int32_t b_multiplier;
    int32_t shift;
    int32_t y_zero_point;
} edgec_add_run_t;

EDGEC_INLINE uint32_t edgec_add_run_one(int32_t a, int32_t b, edgec_add_run_t run, int32_t act_min,
                                        int32_t act_max) {
    const int32_t sum = b * run.b_multiplier + (a * run.a_multiplier + run.start);
    return (uint8_t)edgec_clamp_s8((sum >> run.shift) + run.y_zero_point, act_min, act_max);
}

/* The code that `bit` bits lie before in two words of codes. */
EDGEC_INLINE uint32_t edgec_add_run_at(uint32_t a, uint32_t b, int32_t bit, edgec_add_run_t run,
                                       int32_t act_min, int32_t act_max) {
    const int32_t one_a = (int8_t)((a >> bit) & 0xFFU);
    const int32_t one_b = (int8_t)((b >> bit) & 0xFFU);
    return edgec_add_run_one(one_a, one_b, run, act_min, act_max) << bit;
}

EDGEC_INLINE void edgec_add_run_within(const int8_t *a, const int8_t *b, int8_t *y, int32_t count,
                                       edgec_add_run_t run, int32_t act_min, int32_t act_max) {
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        uint32_t four_a;
        uint32_t four_b;
        memcpy(&four_a, a + i, sizeof four_a);
        memcpy(&four_b, b + i, sizeof four_b);
        const uint32_t codes = edgec_add_run_at(four_a, four_b, 0, run, act_min, act_max) |
                               edgec_add_run_at(four_a, four_b, 8, run, act_min, act_max) |
                               edgec_add_run_at(four_a, four_b, 16, run, act_min, act_max) |
                               edgec_add_run_at(four_a, four_b, 24, run, act_min, act_max);
        memcpy(y + i, &codes, sizeof codes);
    }
    for (; i < count; i++) {
        y[i] = (int8_t)edgec_add_run_one(a[i], b[i], run, act_min, act_max);
    }
}

/* edgec_add_s8 of `count` codes each; y may be a or b, or lie before them, but in no other way upon
 * them.  Memory is little endian, as on all cores that edgec knows. */
EDGEC_SEPARATE void edgec_add_run_s8(const int8_t *a, const int8_t *b, int8_t *y, int32_t count,
                                     const edgec_add_params_t *params) {
    const int32_t zero_points =
        params->a_zero_point * params->a_multiplier + params->b_zero_point * params->b_multiplier;
    const int32_t half = (int32_t)(((uint32_t)1 << params->shift) >> 1);
    const edgec_add_run_t run = {half - zero_points, params->a_multiplier, params->b_multiplier,
                                 params->shift, params->y_zero_point};
    if (params->act_min == INT8_MIN && params->act_max == INT8_MAX) {
        edgec_add_run_within(a, b, y, count, run, INT8_MIN, INT8_MAX);
    } else {
        edgec_add_run_within(a, b, y, count, run, params->act_min, params->act_max);
    }
}

#ifdef __cplusplus
}
#endif

#endif
