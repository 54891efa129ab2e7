/* I-ViT (Li & Gu, ICCV 2023): exponentials by shifts, 32 bits. */
#include "forms.h"
#include "wide.h"

/* Algorithm 1, ShiftExp of x <= 0, already times log2(e) by shifts. */
static uint32_t shift_exp(int32_t powers, int32_t one, int32_t most) {
    const int32_t least = -most * one;
    const int32_t limited = (powers > least) ? powers : least;
    const int32_t whole = -limited / one;
    const int32_t fraction = limited + whole * one;
    return (uint32_t)((fraction >> 1) + one) << (most - whole);
}

void ivit_softmax(const int16_t *logits, int32_t one, uint32_t *exponentials, int16_t *weights,
                  int32_t count) {
    int32_t highest = logits[0];
    for (int32_t j = 1; j < count; j++) {
        highest = (logits[j] > highest) ? logits[j] : highest;
    }
    uint32_t total = 0;
    for (int32_t j = 0; j < count; j++) {
        const int32_t x = logits[j] - highest;
        exponentials[j] = shift_exp(x + (x >> 1) - (x >> 4), one, 15);
        total += exponentials[j];
    }
    const uint32_t factor = 0x7FFFFFFFU / total;
    for (int32_t j = 0; j < count; j++) {
        weights[j] = (int16_t)((exponentials[j] * factor) >> 24);
    }
}

/* x * 1.702 * log2(e), both by shifts as published: ShiftExp adds the second factor itself. */
static int32_t power_of(int32_t x) {
    return x + (x >> 1) + (x >> 3) + (x >> 4);
}

static uint32_t shift_exp_e(int32_t x, int32_t one) {
    return shift_exp(x + (x >> 1) - (x >> 4), one, 23);
}

void ivit_gelu_codes(const int8_t *x, int32_t one, int32_t *y, int32_t count) {
    int32_t highest = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t power = power_of(x[i]);
        highest = (power > highest) ? power : highest;
    }
    const uint32_t other = shift_exp_e(-highest, one);
    for (int32_t i = 0; i < count; i++) {
        const uint32_t e = shift_exp_e(power_of(x[i]) - highest, one);
        const uint32_t total = e + other;
        const uint32_t factor = 0x7FFFFFFFU / ((total > 0U) ? total : 1U);
        y[i] = x[i] * (int32_t)((e * factor) >> 24);
    }
}

void ivit_gelu(const int32_t *sums, const int32_t *multipliers, const int32_t *shifts,
               const ivit_gelu_t *numbers, int8_t *x, int8_t *y, int32_t count) {
    int32_t highest = 0;
    for (int32_t i = 0; i < count; i++) {
        x[i] = (int8_t)wide_rescale(sums[i], multipliers[i], shifts[i]);
        const int32_t power = power_of(x[i]);
        highest = (power > highest) ? power : highest;
    }
    const uint32_t other = shift_exp_e(-highest, numbers->one);
    for (int32_t i = 0; i < count; i++) {
        const uint32_t e = shift_exp_e(power_of(x[i]) - highest, numbers->one);
        const uint32_t total = e + other;
        const uint32_t factor = 0x7FFFFFFFU / ((total > 0U) ? total : 1U);
        const int32_t code = x[i] * (int32_t)((e * factor) >> 24);
        y[i] = (int8_t)wide_rescale(code, numbers->multiplier, numbers->shift);
    }
}
