/* Integers of 64 bits: TensorFlow Lite's requantization, and I-BERT (Kim et al., ICML 2021).
 *
 * Divisions by numbers that are known before are products with reciprocals, and a row divides once,
 * so that only the width of the integers counts.
 */
#include "forms.h"
#include "wide.h"

void wide_requantize(const int32_t *sums, const int32_t *multipliers, const int32_t *shifts,
                     int8_t *y, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = (int8_t)wide_rescale(sums[i], multipliers[i], shifts[i]);
    }
}

/* Algorithm 1: a parabola for erf. */
static int32_t gelu_code(int32_t x, const ibert_gelu_t *n) {
    const int32_t magnitude = (x < 0) ? -x : x;
    const int32_t size = (magnitude < n->limit) ? magnitude : n->limit;
    const int32_t parabola = (size + n->b) * (size + n->b) + n->one;
    const int32_t erf = (x < 0) ? -parabola : ((x > 0) ? parabola : 0);
    return x * (erf + n->one);
}

void ibert_gelu(const int32_t *sums, const int32_t *multipliers, const int32_t *shifts,
                const ibert_gelu_t *numbers, int8_t *y, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const int32_t code = gelu_code(wide_rescale(sums[i], multipliers[i], shifts[i]), numbers);
        y[i] = (int8_t)wide_rescale(code, numbers->multiplier, numbers->shift);
    }
}

void ibert_gelu_codes(const int8_t *x, const ibert_gelu_t *numbers, int32_t *y, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = gelu_code(x[i], numbers);
    }
}

/* Algorithm 4: Newton's iteration from above. */
static uint32_t newton_root(uint32_t n) {
    if (n == 0U) {
        return 0U;
    }
    const int32_t bits = 32 - __builtin_clz(n);
    uint32_t root = (uint32_t)1 << ((bits + 1) / 2);
    for (;;) {
        const uint32_t next = (root + n / root) / 2U;
        if (next >= root) {
            return root;
        }
        root = next;
    }
}

/* The mean, and 2^31 over the deviation. */
typedef struct norm_row {
    int32_t mean;
    int32_t factor;
} norm_row_t;

static norm_row_t norm_row(const int16_t *x, int32_t count) {
    int32_t total = 0;
    for (int32_t c = 0; c < count; c++) {
        total += x[c];
    }
    /* Half up, of negative numbers, too. */
    const int32_t twice = 2 * total + count;
    const int32_t whole = twice / (2 * count);
    const int32_t mean = whole - ((twice < 0 && whole * 2 * count != twice) ? 1 : 0);
    int64_t squares = 0;
    for (int32_t c = 0; c < count; c++) {
        const int32_t centred = x[c] - mean;
        squares += (int64_t)centred * centred;
    }
    const uint32_t root = newton_root((uint32_t)((uint64_t)squares / (uint32_t)count));
    const norm_row_t row = {mean, (int32_t)(0x7FFFFFFFU / ((root > 0U) ? root : 1U))};
    return row;
}

static int32_t norm_unit(int32_t x, norm_row_t row) {
    return (int32_t)(((int64_t)(x - row.mean) * row.factor) >> 12);
}

void ibert_norm(const int16_t *x, const int32_t *gamma, const int64_t *beta, int8_t *y,
                int32_t count) {
    const norm_row_t row = norm_row(x, count);
    for (int32_t c = 0; c < count; c++) {
        const int64_t scaled = (int64_t)norm_unit(x[c], row) * gamma[c] + beta[c];
        y[c] = (int8_t)clamp_s8((int32_t)(scaled >> 31));
    }
}

void ibert_norm_units(const int16_t *x, int32_t *y, int32_t count) {
    const norm_row_t row = norm_row(x, count);
    for (int32_t c = 0; c < count; c++) {
        y[c] = norm_unit(x[c], row);
    }
}

/* Algorithm 2: exponentials of a row and their sum. */
static uint64_t exponentials_of(const int16_t *logits, const ibert_exp_t *n, uint32_t *e,
                                int32_t count) {
    int32_t highest = logits[0];
    for (int32_t j = 1; j < count; j++) {
        highest = (logits[j] > highest) ? logits[j] : highest;
    }
    uint64_t total = 0;
    for (int32_t j = 0; j < count; j++) {
        const uint32_t distance = (uint32_t)(highest - logits[j]);
        const int32_t z = (int32_t)(((uint64_t)distance * n->inverse) >> 32);
        const int64_t rest = z * n->ln2 - (int32_t)distance + n->b;
        const uint64_t parabola = (uint64_t)(rest * rest + n->c);
        e[j] = (uint32_t)(parabola >> ((z < 62) ? z : 62));
        total += e[j];
    }
    return total;
}

void ibert_softmax(const int16_t *logits, const ibert_exp_t *numbers, uint32_t *exponentials,
                   int16_t *weights, int32_t count) {
    const uint64_t total = exponentials_of(logits, numbers, exponentials, count);
    const int32_t bits = 64 - __builtin_clzll(total);
    const int32_t excess = (bits > 32) ? bits - 32 : 0;
    const uint64_t one = (uint64_t)1 << (30 + bits - excess);
    const uint32_t factor = (uint32_t)(one / (uint32_t)(total >> excess));
    for (int32_t j = 0; j < count; j++) {
        weights[j] = (int16_t)(((uint64_t)exponentials[j] * factor) >> (22 + bits));
    }
}

/* FQ-ViT (Lin et al., IJCAI 2022), section 3.3: the logarithm of 1 / softmax, from its first bits.
 * The sum of exponentials of 8-bit logits fits 32 bits. */
void fqvit_softmax(const int16_t *logits, const ibert_exp_t *numbers, uint32_t *exponentials,
                   int16_t *weights, int32_t count) {
    const uint32_t total = (uint32_t)exponentials_of(logits, numbers, exponentials, count);
    for (int32_t j = 0; j < count; j++) {
        const uint32_t divisor = (exponentials[j] > 0U) ? exponentials[j] : 1U;
        const uint32_t inverse = (total + divisor / 2U) / divisor;
        const int32_t bits = 31 - __builtin_clz(inverse);
        const int32_t next = (bits > 0) ? (int32_t)((inverse >> (bits - 1)) & 1U) : 0;
        weights[j] = (int16_t)((bits + next > 15) ? 16 : bits + next);
    }
}

void wide_values(const int16_t *weights, const int8_t *values, int32_t multiplier, int32_t shift,
                 int8_t *y, int32_t keys) {
    for (int32_t e = 0; e < VALUE_WIDTH; e += 4) {
        int32_t sums[4] = {0, 0, 0, 0};
        const int8_t *from = values + e;
        for (int32_t j = 0; j < keys; j++, from += VALUE_WIDTH) {
            const int32_t weight = weights[j];
            sums[0] += weight * from[0];
            sums[1] += weight * from[1];
            sums[2] += weight * from[2];
            sums[3] += weight * from[3];
        }
        for (int32_t c = 0; c < 4; c++) {
            y[e + c] = (int8_t)wide_rescale(sums[c], multiplier, shift);
        }
    }
}
