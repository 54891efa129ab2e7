/* The softmax of CMSIS-NN and TensorFlow Lite, which is gemmlowp's: 31-bit fixed point with
 * doubling high products, exponentials computed twice.  Source: gemmlowp, fixedpoint.h (the
 * formulas); CMSIS-NN, arm_softmax_s8 (the order of work).
 */
#include "forms.h"

enum { SUM_BITS = 12, QUARTER_BITS = 24, INTEGER_BITS = 5 };

/* Twice the high word of a product, rounded. */
static int32_t high_product(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* x / 2^n, rounded half away from 0. */
static int32_t rounded_shift(int32_t x, int32_t n) {
    const int32_t mask = (int32_t)(((uint32_t)1 << n) - 1U);
    const int32_t threshold = (mask >> 1) + ((x < 0) ? 1 : 0);
    return (x >> n) + (((x & mask) > threshold) ? 1 : 0);
}

/* exp of x <= 0 in Q5.26, as Q0.31. */
static int32_t exponential(int32_t x) {
    /* exp(-2^k) for k from -2 to 4. */
    static const int32_t factors[7] = {1672461947, 1302514674, 790015084, 290630308,
                                       39332535,   720401,     242};
    const int32_t quarter = (int32_t)1 << QUARTER_BITS;
    const int32_t part = (x & (quarter - 1)) - quarter;
    const int32_t rest = part - x;
    /* Around -1/8: a polynomial of the fourth degree. */
    const int32_t t = (int32_t)((uint32_t)part << INTEGER_BITS) + ((int32_t)1 << 28);
    const int32_t t2 = high_product(t, t);
    const int32_t t3 = high_product(t2, t);
    const int32_t t4 = rounded_shift(high_product(t2, t2), 2);
    const int32_t third = high_product(t4 + t3, 715827883);
    int32_t result = 1895147668 + high_product(1895147668, t + rounded_shift(third + t2, 1));
    for (int32_t k = 0; k < 7; k++) {
        if ((rest & (int32_t)((uint32_t)quarter << k)) != 0) {
            result = high_product(result, factors[k]);
        }
    }
    return (x == 0) ? INT32_MAX : result;
}

/* 1 / (1 + x) for x in [0, 1), Q0.31: three steps of Newton's. */
static int32_t reciprocal_of_one_plus(int32_t x) {
    const int64_t sum = (int64_t)x + INT32_MAX;
    const int32_t half = (int32_t)((sum + 1) / 2);
    int32_t y = 1515870810 + high_product(half, -1010580540);
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = ((int32_t)1 << 29) - high_product(half, y);
        y += (int32_t)((uint32_t)high_product(y, error) << 2);
    }
    return (y > INT32_MAX / 2) ? INT32_MAX : (int32_t)((uint32_t)y << 1);
}

/* exp of a difference of two logits. */
static int32_t of_difference(int32_t difference, int32_t multiplier, int32_t shift) {
    return exponential(high_product(difference * ((int32_t)1 << shift), multiplier));
}

void cmsis_softmax(const int8_t *logits, int32_t multiplier, int32_t shift, int32_t least,
                   int16_t *weights, int32_t count) {
    int32_t highest = logits[0];
    for (int32_t j = 1; j < count; j++) {
        highest = (logits[j] > highest) ? logits[j] : highest;
    }
    int32_t sum = 0;
    for (int32_t j = 0; j < count; j++) {
        const int32_t difference = logits[j] - highest;
        if (difference >= least) {
            sum += rounded_shift(of_difference(difference, multiplier, shift), SUM_BITS);
        }
    }
    const int32_t headroom = __builtin_clz((uint32_t)sum);
    const uint32_t fraction = ((uint32_t)sum << headroom) - ((uint32_t)1 << 31);
    const int32_t scale = reciprocal_of_one_plus((int32_t)fraction);
    const int32_t bits = SUM_BITS - headroom + 31 - 8;
    for (int32_t j = 0; j < count; j++) {
        const int32_t difference = logits[j] - highest;
        int32_t weight = 0;
        if (difference >= least) {
            const int32_t e = of_difference(difference, multiplier, shift);
            weight = rounded_shift(high_product(scale, e), bits);
        }
        weights[j] = (int16_t)((weight > 255) ? 255 : weight);
    }
}
