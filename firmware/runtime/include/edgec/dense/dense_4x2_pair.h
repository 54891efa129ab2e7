/* Loop over pairs of filters for a block of four rows of x, shared by dense_4x2_high_word.h,
 * dense_4x2_tflite.h and dense_4x2_rescale16.h: the sums of a tile stay in registers until outputs
 * are stored.
 *
 * The operands of a pair lie in the order of use: biases, weights, and the numbers of the
 * requantization (multiplier, offset, shift), `size` bytes for each filter.
 *
 *     filters [pairs][8 + 8 * words + 2 * size bytes]
 *
 * Weights that are unpacked before a call are an array of their own; biases [filters] and numbers
 * [filters][size] are then read from `apart`.
 *
 * Arguments of such a function: r0, the filters; r1, the first words of the rows; r2, a struct
 * edgec_dense_4x2_out_t, of which it copies eight words (ten where biases are apart) to its stack:
 *
 *     sp + 0     end of the rows
 *     sp + 4     address of the next outputs of row 0; advanced from pair to pair
 *     sp + 8     distances of the outputs of rows 1 to 3 from row 0, in bytes
 *     sp + 20    end of the filters
 *     sp + 24    word `own`, whose meaning depends on the function
 *     sp + 28    initial values of the sums of rows that are not interleaved (those of interleaved
 *                rows precede the rows); in functions that layers share, the remaining shift
 *     sp + 32    apart: biases and numbers of the next pair, two pointers; advanced, too
 *     then       beginning of the rows
 *
 * The operand `out` is the distance in bytes between consecutive rows of outputs, in [1, 1365]; 0:
 * the distances on the stack hold.
 *
 * A function for blocks of three rows skips the row 2 of four (dense_4x2_words.h); its operand
 * `four` is 0.
 *
 * Registers: sums in r4-r11, those of row 0 with both filters first.  During the products, weights
 * in r2 and r3, words of rows in r12 and lr, and the address of the next words in r1; afterwards
 * these five are free.  Consecutive loads take one cycle each after the first on Cortex-M4. */
#ifndef EDGEC_DENSE_DENSE_4X2_PAIR_H
#define EDGEC_DENSE_DENSE_4X2_PAIR_H

#include "edgec/dense/dense_4x2_s8_dsp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses that a function reads and writes.  `places` are the distances of the outputs of rows 1
 * to 3 from row 0, in bytes; an incomplete last block repeats its last row at the same place. */
typedef struct edgec_dense_4x2_out {
    const edgec_pair_t *rows_end;
    int8_t *y;
    int32_t places[EDGEC_DENSE_4X2_ROWS - 1];
    const int8_t *filters_end;
    union {
        int32_t offset;     /* edgec_dense_4x2_offset */
        const int8_t *from; /* the table's entry for 0, or what is added, laid out like y */
    } own;
    union {
        const edgec_s32_t *starts;
        int32_t left; /* see dense_4x2_shared.h */
    };
    const int32_t *bias; /* this and the next one: apart */
    const void *numbers;
} edgec_dense_4x2_out_t;

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Operands of the layout of rows.  ROW: bytes from a row to the next.  TALL: rows of a block,
 * 4 or 3; three are interleaved. */
#define EDGEC_DENSE_4X2_PAIR_PLACED(ROW, APART, TALL)                                               \
    [row] "i"(ROW), [word] "i"(EDGEC_DENSE_4X2_WORD(ROW)),                                          \
    [start] "i"((ROW) == EDGEC_DENSE_4X2_INTERLEAVED ? 8 : 4), [apart] "i"(APART),                  \
    [frame] "i"(32 + 8 * (APART)), [four] "i"((TALL) - 3)

/* Prologue: saves registers, copies the struct to the stack. */
#define EDGEC_DENSE_4X2_PAIR_ENTER                                                                  \
    "push {r1, r4-r11, lr}\n"                                                                      \
    "sub sp, sp, #%c[frame]\n"                                                                     \
    ".if %c[apart]\n"                                                                              \
    "ldm r2, {r3-r12}\n"                                                                           \
    "stm sp, {r3-r12}\n"                                                                           \
    ".else\n"                                                                                      \
    "ldm r2, {r3-r10}\n"                                                                           \
    "stm sp, {r3-r10}\n"                                                                           \
    ".endif\n"

/* Initial values of a pair's sums: biases, plus the rows' initial values. */
#define EDGEC_DENSE_4X2_PAIR_STARTS                                                                 \
    ".p2align 2\n"                                                                                 \
    "1:\n"                                                                                         \
    ".if %c[apart]\n"                                                                              \
    "ldr r2, [sp, #32]\n"                                                                          \
    ".endif\n"                                                                                     \
    ".if %c[start] - 8\n"                                                                          \
    "ldr r3, [sp, #28]\n"                                                                          \
    ".endif\n"                                                                                     \
    "ldr r1, [sp, #%c[frame]]\n"                                                                   \
    ".if %c[apart]\n"                                                                              \
    "ldr lr, [r2, #4]\n"                                                                           \
    "ldr r12, [r2], #8\n"                                                                          \
    ".else\n"                                                                                      \
    "ldr lr, [r0, #4]\n"                                                                           \
    "ldr r12, [r0], #8\n"                                                                          \
    ".endif\n"                                                                                     \
    ".if %c[start] - 8\n"                                                                          \
    "ldr r5, [r3]\n"                                                                               \
    "ldr r7, [r3, #%c[start]]\n"                                                                   \
    "ldr r9, [r3, #(2 * %c[start])]\n"                                                             \
    "ldr r11, [r3, #(3 * %c[start])]\n"                                                            \
    ".else\n"                                                                                      \
    "ldr r5, [r1, #-32]\n"                                                                         \
    "ldr r7, [r1, #-24]\n"                                                                         \
    ".if %c[four]\n"                                                                               \
    "ldr r9, [r1, #-16]\n"                                                                         \
    "ldr r11, [r1, #-8]\n"                                                                         \
    ".else\n"                                                                                      \
    "ldr r9, [r1, #-8]\n"                                                                          \
    "ldr r11, [sp]\n"                                                                              \
    ".endif\n"                                                                                     \
    ".endif\n"                                                                                     \
    "add r4, r5, r12\n"                                                                            \
    "add r5, r5, lr\n"                                                                             \
    "add r6, r7, r12\n"                                                                            \
    "add r7, r7, lr\n"                                                                             \
    "add r8, r9, r12\n"                                                                            \
    "add r9, r9, lr\n"                                                                             \
    ".if %c[four]\n"                                                                               \
    "add r10, r11, r12\n"                                                                          \
    "add r11, r11, lr\n"                                                                           \
    ".endif\n"                                                                                     \
    ".if %c[apart]\n"                                                                              \
    "str r2, [sp, #32]\n"                                                                          \
    ".endif\n"

/* Prologue, initial values and products of a pair. */
#define EDGEC_DENSE_4X2_PAIR_SUMS                                                                   \
    EDGEC_DENSE_4X2_PAIR_ENTER EDGEC_DENSE_4X2_PAIR_STARTS EDGEC_DENSE_4X2_LOOP

/* Loads the numbers of the next filters to a list of registers without r0 and r1. */
#define EDGEC_DENSE_4X2_PAIR_NUMBERS(LIST)                                                          \
    ".if %c[apart]\n"                                                                              \
    "ldr r1, [sp, #36]\n"                                                                          \
    "ldm r1!, {" LIST "}\n"                                                                        \
    "str r1, [sp, #36]\n"                                                                          \
    ".else\n"                                                                                      \
    "ldm r0!, {" LIST "}\n"                                                                        \
    ".endif\n"

/* Loads the address of the outputs of row 0 to r2 and the end of the filters to r1. */
#define EDGEC_DENSE_4X2_PAIR_Y                                                                      \
    "ldr r2, [sp, #4]\n"                                                                           \
    "ldr r1, [sp, #20]\n"

/* Loads the distances of the other rows, unless `out` is constant, and adds the address of row
 * 0. */
#define EDGEC_DENSE_4X2_PAIR_PLACES                                                                 \
    ".ifeq %c[out]\n"                                                                              \
    "ldr r3, [sp, #8]\n"                                                                           \
    ".if %c[four]\n"                                                                               \
    "ldr r12, [sp, #12]\n"                                                                         \
    ".endif\n"                                                                                     \
    "ldr lr, [sp, #16]\n"                                                                          \
    ".endif\n"
#define EDGEC_DENSE_4X2_PAIR_ADD(ROW)                                                               \
    ".ifeq %c[out]\n"                                                                              \
    "add " #ROW ", " #ROW ", r2\n"                                                                 \
    ".endif\n"

/* Packs the last codes of pairs into halfwords, and adds the distances of rows meanwhile. */
#define EDGEC_DENSE_4X2_PAIR_JOINED                                                                 \
    EDGEC_DENSE_4X2_PAIR_ADD(r3)                                                                    \
    "bfi r8, r9, #8, #8\n"                                                                         \
    EDGEC_DENSE_4X2_IF_FOUR(EDGEC_DENSE_4X2_PAIR_ADD(r12) "bfi r10, r11, #8, #8\n")                  \
    EDGEC_DENSE_4X2_PAIR_ADD(lr)

/* Stores two codes for each row, from r4, r6, r8 and r10, at r2 (advanced), r3, r12 and lr, or at
 * r2 and constant distances from it; of the last pair of an odd number of filters, one code a
 * row. */
#define EDGEC_DENSE_4X2_PAIR_ROWS_AT(STORE)                                                         \
    ".if %c[out]\n"                                                                                \
    STORE " r6, [r2, #(1 * %c[out])]\n"                                                            \
    STORE " r8, [r2, #(2 * %c[out])]\n"                                                            \
    ".if %c[four]\n"                                                                               \
    STORE " r10, [r2, #(3 * %c[out])]\n"                                                           \
    ".endif\n"                                                                                     \
    ".else\n"                                                                                      \
    STORE " r6, [r3]\n"                                                                            \
    ".if %c[four]\n"                                                                               \
    STORE " r8, [r12]\n"                                                                           \
    STORE " r10, [lr]\n"                                                                           \
    ".else\n"                                                                                      \
    STORE " r8, [lr]\n"                                                                            \
    ".endif\n"                                                                                     \
    ".endif\n"
#define EDGEC_DENSE_4X2_PAIR_BYTES                                                                  \
    ".if %c[odd]\n"                                                                                \
    "cmp r0, r1\n"                                                                                 \
    "bne 3f\n"                                                                                     \
    EDGEC_DENSE_4X2_PAIR_ROWS_AT("strb")                                                            \
    "strb r4, [r2]\n"                                                                              \
    "b 4f\n"                                                                                       \
    "3:\n"                                                                                         \
    ".endif\n"                                                                                     \
    EDGEC_DENSE_4X2_PAIR_ROWS_AT("strh")                                                            \
    "strh r4, [r2], #2\n"                                                                          \
    "4:\n"

/* End of the loop, with the next address of row 0 in r2 and the end of the filters in r1;
 * epilogue. */
#define EDGEC_DENSE_4X2_PAIR_NEXT                                                                   \
    "str r2, [sp, #4]\n"                                                                           \
    "cmp r0, r1\n"                                                                                 \
    "bne 1b\n"                                                                                     \
    "add sp, sp, #%c[frame]\n"                                                                     \
    "pop {r1, r4-r11, lr}\n"
/* clang-format on */
#else
/* Such a function in C.  SIZE: bytes of the numbers of a filter.  TALL: rows of a block, 4 or 3.
 * STORE, a statement: requantizes `sum` of row j / 2 by `numbers` of the filter, and stores the
 * code at `place` + `filter`. */
#define EDGEC_DENSE_4X2_PAIRS(NAME, ROW, ODD, SIZE, APART, TALL, STORE)                            \
    EDGEC_INLINE void NAME(const int8_t *filters, const edgec_pair_t *rows,                        \
                           const edgec_dense_4x2_out_t *out) {                                     \
        const int32_t words = (int32_t)(out->rows_end - rows) / (EDGEC_DENSE_4X2_WORD(ROW) / 4);   \
        const int32_t step = 8 * words + ((APART) ? 0 : 8 + 2 * (SIZE));                           \
        int32_t pair = 0;                                                                          \
        for (const int8_t *w = filters; w < out->filters_end; w += step, pair++) {                 \
            edgec_s32_t sums[2 * EDGEC_DENSE_4X2_ROWS];                                            \
            const int32_t second = ((ODD) != 0 && w + step == out->filters_end) ? 0 : 1;           \
            edgec_dense_4x2_pair_sums(w, rows, out, words, ROW, TALL, sums,                        \
                                      (APART) ? out->bias + 2 * pair : NULL, second);              \
            for (int32_t j = 0; j < 2 * EDGEC_DENSE_4X2_ROWS; j++) {                               \
                const int32_t filter = 2 * pair + j % 2;                                           \
                if (((TALL) == 3 && j / 2 == 2) || j % 2 > second) {                               \
                    continue;                                                                      \
                }                                                                                  \
                const int8_t *const numbers = (APART)                                              \
                                                  ? (const int8_t *)out->numbers + (SIZE) * filter \
                                                  : w + 8 + 8 * words + (SIZE) * (j % 2);          \
                const int32_t sum = sums[j];                                                       \
                const int32_t place = (j < 2) ? 0 : out->places[j / 2 - 1];                        \
                STORE                                                                              \
            }                                                                                      \
        }                                                                                          \
    }

/* Number i of a filter, of 32 bits. */
EDGEC_INLINE int32_t edgec_dense_4x2_number(const int8_t *numbers, int32_t i) {
    return (int32_t)edgec_word_at(numbers + 4 * i);
}

/* The sums of such a function, of row j / 2 with filter j % 2 of the pair at `w`.  `bias`: apart;
 * NULL where both stand before the weights.  `second`: 0 where the pair has no second filter. */
EDGEC_INLINE void edgec_dense_4x2_pair_sums(const int8_t *w, const edgec_pair_t *rows,
                                            const edgec_dense_4x2_out_t *out, int32_t words,
                                            int32_t row, int32_t tall, edgec_s32_t *sums,
                                            const int32_t *bias, int32_t second) {
    const edgec_dense_4x2_from_t from = {
        .filters = (bias == NULL) ? w + 8 : w,
        .second = 4,
        .step = 8,
        .rows = rows,
        .row = row / 4,
        .next = EDGEC_DENSE_4X2_WORD(row) / 4,
        .words = words,
        .flip = 0U,
        .tall = tall,
    };
    for (int32_t j = 0; j < 2 * EDGEC_DENSE_4X2_ROWS; j++) {
        if (tall == EDGEC_DENSE_4X2_FEWER && j / 2 == 2) {
            sums[j] = 0;
            continue;
        }
        const int32_t start = (row == EDGEC_DENSE_4X2_INTERLEAVED)
                                  ? (int32_t)rows[j / 2 * 2 - 2 * EDGEC_DENSE_4X2_ROWS]
                                  : out->starts[j / 2];
        sums[j] =
            start + ((bias == NULL) ? edgec_dense_4x2_number(w, j % 2) : bias[j % 2 * second]);
    }
    edgec_dense_4x2_add(&from, sums);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
