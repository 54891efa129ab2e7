/* edgec's arithmetic: the functions of firmware/runtime in the loops of the kernels. */
#include "edgec/arithmetic/rescale16.h"
#include "edgec/attention/attention.h"
#include "edgec/attention/values_dsp.h"
#include "edgec/norm/norm.h"

#include "forms.h"

enum { PRE_SHIFT = 4, SHIFT = 20, CHANNELS = 192, EXP_BITS = 15, KEY_PAIRS = 98 };

void ours_requantize(const int32_t *sums, const int16_t *multipliers, int8_t *y, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const int32_t rescaled = edgec_rescale(sums[i], multipliers[i], PRE_SHIFT, SHIFT);
        y[i] = (int8_t)edgec_limit(rescaled, INT8_MIN, INT8_MAX);
    }
}

void ours_gelu(const int32_t *sums, const int16_t *multipliers, const int8_t *table, int8_t *y,
               int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const int32_t rescaled = edgec_rescale(sums[i], multipliers[i], PRE_SHIFT, SHIFT - 2);
        y[i] = table[edgec_limit(rescaled, -512, 511) + 512];
    }
}

enum { NORM_SHIFT = 20 };

EDGEC_NORM_S8(norm_pairs, CHANNELS / 2, NORM_SHIFT, 1)

/* numbers: epsilon, least_shift and square_shift.  As templates/kernels/norm.c.j2. */
void ours_norm(const int16_t *x, const int16_t *gamma, const int32_t *beta, const int32_t *numbers,
               int8_t *y) {
    const edgec_norm_params_t params = {gamma, beta, numbers[0], numbers[1]};
    const edgec_norm_sums_t sums = edgec_norm_sums(x, CHANNELS);
    const edgec_norm_line_t w = {CHANNELS, -sums.total};
    const int32_t excess = edgec_norm_excess(&sums, w);
    const int32_t p_shift = edgec_max_s32(excess + numbers[2], numbers[1]);
    const int32_t squares = edgec_norm_squares(x, CHANNELS, w, p_shift);
    const edgec_norm_row_t row = edgec_norm_row(&params, excess, p_shift, squares);
    const edgec_norm_steps_t steps = {w, row};
    norm_pairs(x, y, gamma, beta, &steps);
}

static edgec_attention_head_t head_of(const int32_t *numbers) {
    const edgec_attention_head_t head = {numbers[0], numbers[1], numbers[2], numbers[3]};
    return head;
}

#if defined(__ARM_FEATURE_DSP)
EDGEC_VALUES_4X2(weighted_values, KEY_PAIRS, KEY_PAIRS / 4, VALUE_WIDTH, 0)

/* As templates/kernels/attention_dsp.c.j2. */
void ours_softmax(int32_t *logits, const int32_t *head, uint32_t *sums, int32_t count) {
    const edgec_attention_head_t numbers = head_of(head);
    edgec_s32_t *const rows = (edgec_s32_t *)logits;
    for (int32_t t = 0; t < 4; t++) {
        sums[t] = edgec_attention_row(rows + 2 * t, count / 2, 0, &numbers, EXP_BITS);
    }
}

void ours_values(const int32_t *weights, const int8_t *values, const int32_t *head,
                 const uint32_t *sums, int32_t *scratch, int8_t *y, int32_t keys) {
    (void)keys;
    const edgec_attention_head_t numbers = head_of(head);
    weighted_values(values, (const edgec_pair_t *)weights, (edgec_s32_t *)scratch, VALUE_WIDTH / 2);
    for (int32_t t = 0; t < 4; t++) {
        const edgec_attention_scale_t scale = edgec_attention_scale(sums[t], &numbers);
        int8_t *const out = y + t * VALUE_WIDTH;
        for (int32_t e = 0; e < VALUE_WIDTH; e += 2) {
            out[e] = edgec_attention_code(scratch[4 * e + 2 * t], scale);
            out[e + 1] = edgec_attention_code(scratch[4 * e + 2 * t + 1], scale);
        }
    }
}
#else
/* As templates/kernels/attention.c.j2; the maximum is found in this loop here. */
void ours_softmax(int32_t *logits, const int32_t *head, uint32_t *sums, int32_t count) {
    const edgec_attention_head_t numbers = head_of(head);
    edgec_s16_t *const weights = (edgec_s16_t *)(void *)logits;
    const edgec_s32_t *const from = (const edgec_s32_t *)logits;
    int32_t highest = INT32_MIN;
    for (int32_t j = 0; j < count; j++) {
        highest = edgec_max_s32(highest, from[j]);
    }
    const edgec_attention_line_t line = edgec_attention_line(highest, &numbers, EXP_BITS);
    uint32_t total = 0;
    for (int32_t j = 0; j < count; j++) {
        const int32_t weight = edgec_exponential(from[j], line);
        weights[j] = (edgec_s16_t)weight;
        total += (uint32_t)weight;
    }
    sums[0] = total;
}

void ours_values(const int32_t *weights, const int8_t *values, const int32_t *head,
                 const uint32_t *sums, int32_t *scratch, int8_t *y, int32_t keys) {
    const edgec_attention_head_t numbers = head_of(head);
    const edgec_s16_t *const from = (const edgec_s16_t *)(const void *)weights;
    const edgec_attention_scale_t scale = edgec_attention_scale(sums[0], &numbers);
    (void)scratch;
    for (int32_t e = 0; e < VALUE_WIDTH; e += EDGEC_VALUE_COLUMNS) {
        int32_t products[EDGEC_VALUE_COLUMNS];
        edgec_weighted_values(from, values + e, keys, VALUE_WIDTH, EDGEC_VALUE_COLUMNS, products);
        for (int32_t c = 0; c < EDGEC_VALUE_COLUMNS; c++) {
            y[e + c] = edgec_attention_code(products[c], scale);
        }
    }
}
#endif
