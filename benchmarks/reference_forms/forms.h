/* The operators of a transformer in several arithmetics, for benchmarks/transformer_forms.py.
 *
 * Every form of an operator takes the same data in the type that its arithmetic keeps them in.
 * Rows are contiguous; `count` is the number of elements of a row.
 */
#ifndef FORMS_H
#define FORMS_H

#include <stdint.h>

/* -- requantization: accumulators to int8, a factor a channel -- */

void ours_requantize(const int32_t *sums, const int16_t *multipliers, int8_t *y, int32_t count);
void float_requantize(const int32_t *sums, const float *factors, int8_t *y, int32_t count);
/* multipliers and shifts: y = round(sum * multiplier * 2^-shift), TensorFlow Lite's. */
void wide_requantize(const int32_t *sums, const int32_t *multipliers, const int32_t *shifts,
                     int8_t *y, int32_t count);

/* -- requantization and GELU -- */

void ours_gelu(const int32_t *sums, const int16_t *multipliers, const int8_t *table, int8_t *y,
               int32_t count);
/* scales[2]: of an output, and its zero point. */
void float_gelu(const int32_t *sums, const float *factors, const float *scales, int8_t *y,
                int32_t count);

/* Numbers of I-BERT's GELU, and of the requantization of its output. */
typedef struct ibert_gelu {
    int32_t limit;
    int32_t b;
    int32_t one;
    int32_t multiplier;
    int32_t shift;
} ibert_gelu_t;

void ibert_gelu(const int32_t *sums, const int32_t *multipliers, const int32_t *shifts,
                const ibert_gelu_t *numbers, int8_t *y, int32_t count);
void ibert_gelu_codes(const int8_t *x, const ibert_gelu_t *numbers, int32_t *y, int32_t count);

/* Numbers of I-ViT's GELU: 1 in steps of the input, and the requantization of the output. */
typedef struct ivit_gelu {
    int32_t one;
    int32_t multiplier;
    int32_t shift;
} ivit_gelu_t;

/* x: int8 [count], scratch that holds the row. */
void ivit_gelu(const int32_t *sums, const int32_t *multipliers, const int32_t *shifts,
               const ivit_gelu_t *numbers, int8_t *x, int8_t *y, int32_t count);
void ivit_gelu_codes(const int8_t *x, int32_t one, int32_t *y, int32_t count);

/* -- LayerNorm of a row, int8 output -- */

void ours_norm(const int16_t *x, const int16_t *gamma, const int32_t *beta, const int32_t *numbers,
               int8_t *y);
/* gamma and beta in steps of the output. */
void float_norm(const float *x, const float *gamma, const float *beta, const float *epsilon,
                int8_t *y, int32_t count);
/* y = (unit * gamma + beta) * 2^-31 rounded, unit in 2^-19. */
void ibert_norm(const int16_t *x, const int32_t *gamma, const int64_t *beta, int8_t *y,
                int32_t count);
void ibert_norm_units(const int16_t *x, int32_t *y, int32_t count);

/* -- softmax of a row of logits -- */

/* head: the four numbers of a head.  With the DSP extension four rows, [pairs of keys][4 rows][2],
 * a word of exponentials in place of the first of a pair; without it one row, which int16
 * exponentials overwrite.  sums: of the exponentials of each row. */
void ours_softmax(int32_t *logits, const int32_t *head, uint32_t *sums, int32_t count);
/* weights: exponentials, not divided by their sum, which A*V is divided by. */
void float_softmax(const int32_t *logits, const float *scale, float *weights, float *sum,
                   int32_t count);

/* Numbers of I-BERT's exponential; inverse: 2^32 / ln2, rounded up. */
typedef struct ibert_exp {
    int32_t ln2;
    uint32_t inverse;
    int32_t b;
    int32_t c;
} ibert_exp_t;

/* weights of 8 bits: 0 to 256. */
void ibert_softmax(const int16_t *logits, const ibert_exp_t *numbers, uint32_t *exponentials,
                   int16_t *weights, int32_t count);
/* weights of 4 bits: n stands for 2^-n, 16 for 0. */
void fqvit_softmax(const int16_t *logits, const ibert_exp_t *numbers, uint32_t *exponentials,
                   int16_t *weights, int32_t count);
/* weights of 7 bits: 0 to 128.  one: 1 in steps of the logits. */
void ivit_softmax(const int16_t *logits, int32_t one, uint32_t *exponentials, int16_t *weights,
                  int32_t count);
/* weights of 8 bits, 0 to 255.  multiplier * 2^(shift - 31) makes Q5.26 of a difference, which is
 * `least` or its exponential 0. */
void cmsis_softmax(const int8_t *logits, int32_t multiplier, int32_t shift, int32_t least,
                   int16_t *weights, int32_t count);

/* -- weighted values: `keys` rows of VALUE_WIDTH columns -- */

enum { VALUE_WIDTH = 64 };

/* With the DSP extension four queries, their weights in pairs as `ours_softmax` leaves them, and
 * y int8 [4][VALUE_WIDTH]; without it one query. */
void ours_values(const int32_t *weights, const int8_t *values, const int32_t *head,
                 const uint32_t *sums, int32_t *scratch, int8_t *y, int32_t keys);
void float_values(const float *weights, const float *values, const float *scales, int8_t *y,
                  int32_t keys);
void wide_values(const int16_t *weights, const int8_t *values, int32_t multiplier, int32_t shift,
                 int8_t *y, int32_t keys);

#endif
