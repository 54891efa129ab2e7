/* Single precision with the functions of the C library. */
#include <math.h>

#include "forms.h"

/* The nearest code of a number that is already in steps, the zero point included. */
static int8_t float_code(float x) {
    if (!(x > -128.0f)) {
        return -128;
    }
    /* Truncation of a positive number rounds down. */
    return (x > 127.0f) ? 127 : (int8_t)((int32_t)(x + 128.5f) - 128);
}

void float_requantize(const int32_t *sums, const float *factors, int8_t *y, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = float_code((float)sums[i] * factors[i]);
    }
}

void float_gelu(const int32_t *sums, const float *factors, const float *scales, int8_t *y,
                int32_t count) {
    const float inverse = 1.0f / scales[0];
    for (int32_t i = 0; i < count; i++) {
        const float x = (float)sums[i] * factors[i];
        const float gelu = 0.5f * x * (1.0f + erff(x * 0.70710678f));
        y[i] = float_code(gelu * inverse + scales[1]);
    }
}

void float_norm(const float *x, const float *gamma, const float *beta, const float *epsilon,
                int8_t *y, int32_t count) {
    float total = 0.0f;
    for (int32_t c = 0; c < count; c++) {
        total += x[c];
    }
    const float mean = total / (float)count;
    float squares = 0.0f;
    for (int32_t c = 0; c < count; c++) {
        const float centred = x[c] - mean;
        squares += centred * centred;
    }
    const float factor = 1.0f / sqrtf(squares / (float)count + *epsilon);
    for (int32_t c = 0; c < count; c++) {
        y[c] = float_code((x[c] - mean) * factor * gamma[c] + beta[c]);
    }
}

void float_softmax(const int32_t *logits, const float *scale, float *weights, float *sum,
                   int32_t count) {
    int32_t highest = logits[0];
    for (int32_t j = 1; j < count; j++) {
        highest = (logits[j] > highest) ? logits[j] : highest;
    }
    float total = 0.0f;
    for (int32_t j = 0; j < count; j++) {
        weights[j] = expf((float)(logits[j] - highest) * *scale);
        total += weights[j];
    }
    *sum = total;
}

/* scales: the sum of the weights, and the scale of a value over that of an output. */
void float_values(const float *weights, const float *values, const float *scales, int8_t *y,
                  int32_t keys) {
    const float factor = scales[1] / scales[0];
    for (int32_t e = 0; e < VALUE_WIDTH; e += 4) {
        float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        const float *from = values + e;
        for (int32_t j = 0; j < keys; j++, from += VALUE_WIDTH) {
            sums[0] += weights[j] * from[0];
            sums[1] += weights[j] * from[1];
            sums[2] += weights[j] * from[2];
            sums[3] += weights[j] * from[3];
        }
        for (int32_t c = 0; c < 4; c++) {
            y[e + c] = float_code(sums[c] * factor);
        }
    }
}
