/* What the functions of tile_4x2_high.h and tile_4x2_out.h share: all pairs of filters with four
 * rows of x, whose sums stay in registers until outputs are stored.
 *
 * Such a function has the filters in r0, the first words of the rows in r1, and in r2 a struct of
 * ten words, which it keeps on the stack:
 *
 *     sp + 0     the end of the rows
 *     sp + 4     the biases of the next pair; they and the multipliers go on from pair to pair
 *     sp + 8     its multipliers
 *     sp + 12    where the outputs of row 0 go; it goes on, too
 *     sp + 16    the places of the rows 1 to 3 after row 0, in bytes
 *     sp + 28    the end of the filters
 *     sp + 32    a word of the function's own
 *     sp + 36    where the sums of the rows start
 *     sp + 40    the beginning of the rows
 *
 * Sums are in r4-r11, first those of row 0 with both filters.  While products are summed up,
 * weights are in r2 and r3, rows in r12 and lr; then all four are free. */
#ifndef EDGEC_TILE_4X2_PAIR_H
#define EDGEC_TILE_4X2_PAIR_H

#include "edgec/tile_4x2.h"

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* Operands that say where rows and the starts of their sums lie; ROW: bytes from a row to the next. */
#define EDGEC_TILE_4X2_PAIR_ROWS(ROW)                                                              \
    [row] "i"(ROW), [word] "i"(EDGEC_TILE_4X2_WORD(ROW)),                                          \
    [start] "i"((ROW) == EDGEC_TILE_4X2_INTERLEAVED ? 8 : 4)

/* The beginning of a function, and of each pair: its sums, from its biases on. */
#define EDGEC_TILE_4X2_PAIR_SUMS                                                                   \
    "push {r1, r4-r11, lr}\n"                                                                      \
    "sub sp, sp, #40\n"                                                                            \
    "ldm r2, {r3-r12}\n"                                                                           \
    "stm sp, {r3-r12}\n"                                                                           \
    "1:\n"                                                                                         \
    "ldr r2, [sp, #4]\n"                                                                           \
    "ldm r2!, {r12, lr}\n"                                                                         \
    "str r2, [sp, #4]\n"                                                                           \
    "ldr r2, [sp, #36]\n"                                                                          \
    "ldr r5, [r2]\n"                                                                               \
    "ldr r7, [r2, #%c[start]]\n"                                                                   \
    "ldr r9, [r2, #(2 * %c[start])]\n"                                                             \
    "ldr r11, [r2, #(3 * %c[start])]\n"                                                            \
    "add r4, r5, r12\n"                                                                            \
    "add r5, r5, lr\n"                                                                             \
    "add r6, r7, r12\n"                                                                            \
    "add r7, r7, lr\n"                                                                             \
    "add r8, r9, r12\n"                                                                            \
    "add r9, r9, lr\n"                                                                             \
    "add r10, r11, r12\n"                                                                          \
    "add r11, r11, lr\n"                                                                           \
    EDGEC_TILE_4X2_LOOP

/* Where outputs go: that of row 0, and the places of the other rows after it. */
#define EDGEC_TILE_4X2_PAIR_PLACES                                                                 \
    "ldr r2, [sp, #12]\n"                                                                          \
    "ldr r3, [sp, #16]\n"                                                                          \
    "ldr r12, [sp, #20]\n"                                                                         \
    "ldr lr, [sp, #24]\n"

/* Stores bytes, two for each row in r4, r6, r8 and r10, at r2 and on, r3, r12 and lr; where the
 * number of filters is odd, one for each row of the last pair. */
#define EDGEC_TILE_4X2_PAIR_BYTES                                                                  \
    ".if %c[odd]\n"                                                                                \
    "ldr r5, [sp, #28]\n"                                                                          \
    "cmp r0, r5\n"                                                                                 \
    "bne 3f\n"                                                                                     \
    "strb r4, [r2]\n"                                                                              \
    "strb r6, [r3]\n"                                                                              \
    "strb r8, [r12]\n"                                                                             \
    "strb r10, [lr]\n"                                                                             \
    "b 4f\n"                                                                                       \
    "3:\n"                                                                                         \
    ".endif\n"                                                                                     \
    "strh r4, [r2], #2\n"                                                                          \
    "strh r6, [r3]\n"                                                                              \
    "strh r8, [r12]\n"                                                                             \
    "strh r10, [lr]\n"                                                                             \
    "4:\n"

/* The end of a pair, with the next place of row 0 in r2, and of the function. */
#define EDGEC_TILE_4X2_PAIR_NEXT                                                                   \
    "str r2, [sp, #12]\n"                                                                          \
    "ldr r2, [sp, #28]\n"                                                                          \
    "ldr r1, [sp, #40]\n"                                                                          \
    "cmp r0, r2\n"                                                                                 \
    "bne 1b\n"                                                                                     \
    "add sp, sp, #40\n"                                                                            \
    "pop {r1, r4-r11, lr}\n"
/* clang-format on */
#else
/* Sum number j of such a function, of row j / 2, with the filter of the pair at `w` that j % 2
 * says. */
EDGEC_INLINE int32_t edgec_tile_4x2_pair_sum(const int8_t *w, const edgec_pair_t *rows,
                                             const edgec_s32_t *starts, int32_t words, int32_t row,
                                             int32_t j) {
    const int32_t next = EDGEC_TILE_4X2_WORD(row) / 4;
    const int32_t start = starts[j / 2 * (row == EDGEC_TILE_4X2_INTERLEAVED ? 2 : 1)];
    return edgec_tile_4x2_dot(w + j % 2 * 4, 8, rows + j / 2 * (row / 4), words, 0U, next, start);
}
#endif

#endif
