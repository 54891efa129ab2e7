/* The products of dense_4x2_s8_dsp.h in assembly: a word of two filters with four rows, or with
 * three.
 *
 * Registers: sums in r4-r11, words of the filters in r2 and r3, of rows in r12 and lr; r0 points to
 * the filters, r1 to the rows.
 *
 * A block of three rows uses the rows 0, 1 and 3 of four, so that it is widened like a block of
 * four with its third row as the last.  Its sums are in r4-r9, a word of its last row is in r10,
 * and the end of the rows in r11. */
#ifndef EDGEC_DENSE_DENSE_4X2_WORDS_H
#define EDGEC_DENSE_DENSE_4X2_WORDS_H

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
#define EDGEC_DENSE_4X2_DOT                                                                         \
    "smlad r4, r2, r12, r4\n"                                                                      \
    "smlad r5, r3, r12, r5\n"                                                                      \
    "smlad r6, r2, lr, r6\n"                                                                       \
    "smlad r7, r3, lr, r7\n"
#define EDGEC_DENSE_4X2_DOT_HIGH                                                                    \
    "smlad r8, r2, r12, r8\n"                                                                      \
    "smlad r9, r3, r12, r9\n"                                                                      \
    "smlad r10, r2, lr, r10\n"                                                                     \
    "smlad r11, r3, lr, r11\n"

/* Flips the signs of a filter's values 0 and 2. */
#define EDGEC_DENSE_4X2_FLIP                                                                        \
    ".if %c[flip]\n"                                                                               \
    "eor r2, r2, #0x00800080\n"                                                                    \
    "eor r3, r3, #0x00800080\n"                                                                    \
    ".endif\n"

/* One word of both filters.  Loads stand together: the later ones take one cycle on Cortex-M4. */
#define EDGEC_DENSE_4X2_GROUPED                                                                     \
    "ldr r3, [r0, #%c[second]]\n"                                                                  \
    "ldr r2, [r0], #%c[step]\n"                                                                    \
    "ldr lr, [r1, #%c[row]]\n"                                                                     \
    "ldr r12, [r1], #%c[word]\n"                                                                   \
    EDGEC_DENSE_4X2_FLIP                                                                            \
    EDGEC_DENSE_4X2_DOT                                                                             \
    "ldr r12, [r1, #(2 * %c[row] - %c[word])]\n"                                                   \
    "ldr lr, [r1, #(3 * %c[row] - %c[word])]\n"                                                    \
    EDGEC_DENSE_4X2_DOT_HIGH                                                                        \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "ldr r12, [r1, #-(%c[word] / 2)]\n"                                                            \
    "ldr lr, [r1, #(%c[row] - %c[word] / 2)]\n"                                                    \
    EDGEC_DENSE_4X2_DOT                                                                             \
    "ldr r12, [r1, #(2 * %c[row] - %c[word] / 2)]\n"                                               \
    "ldr lr, [r1, #(3 * %c[row] - %c[word] / 2)]\n"                                                \
    EDGEC_DENSE_4X2_DOT_HIGH

/* The same for a core that issues a load with a product: each load stands after a product, and
 * the next word's first words of rows are loaded at the end of this one. */
#define EDGEC_DENSE_4X2_DUAL                                                                        \
    "ldr r3, [r0, #%c[second]]\n"                                                                  \
    "ldr r2, [r0], #%c[step]\n"                                                                    \
    EDGEC_DENSE_4X2_FLIP                                                                            \
    "smlad r4, r2, r12, r4\n"                                                                      \
    "smlad r5, r3, r12, r5\n"                                                                      \
    "ldr r12, [r1, #(2 * %c[row])]\n"                                                              \
    "smlad r6, r2, lr, r6\n"                                                                       \
    "smlad r7, r3, lr, r7\n"                                                                       \
    "ldr lr, [r1, #(3 * %c[row])]\n"                                                               \
    "smlad r8, r2, r12, r8\n"                                                                      \
    "smlad r9, r3, r12, r9\n"                                                                      \
    "ldr r12, [r1, #(%c[word] / 2)]\n"                                                             \
    "smlad r10, r2, lr, r10\n"                                                                     \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "smlad r11, r3, lr, r11\n"                                                                     \
    "ldr lr, [r1, #(%c[row] + %c[word] / 2)]\n"                                                    \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "smlad r4, r2, r12, r4\n"                                                                      \
    "smlad r5, r3, r12, r5\n"                                                                      \
    "ldr r12, [r1, #(2 * %c[row] + %c[word] / 2)]\n"                                               \
    "smlad r6, r2, lr, r6\n"                                                                       \
    "smlad r7, r3, lr, r7\n"                                                                       \
    "ldr lr, [r1, #(3 * %c[row] + %c[word] / 2)]\n"                                                \
    "smlad r8, r2, r12, r8\n"                                                                      \
    "smlad r9, r3, r12, r9\n"                                                                      \
    "ldr r12, [r1, #%c[word]]!\n"                                                                  \
    "smlad r10, r2, lr, r10\n"                                                                     \
    "smlad r11, r3, lr, r11\n"                                                                     \
    "ldr lr, [r1, #%c[row]]\n"

/* Text that only blocks of four rows have. */
#define EDGEC_DENSE_4X2_IF_FOUR(TEXT) ".if %c[four]\n" TEXT ".endif\n"

/* The word of EDGEC_DENSE_4X2_GROUPED for three rows, with one group of loads for each half. */
#define EDGEC_DENSE_4X2_DOT_THREE                                                                   \
    "smlad r4, r2, r12, r4\n"                                                                      \
    "smlad r5, r3, r12, r5\n"                                                                      \
    "smlad r6, r2, lr, r6\n"                                                                       \
    "smlad r7, r3, lr, r7\n"                                                                       \
    "smlad r8, r2, r10, r8\n"                                                                      \
    "smlad r9, r3, r10, r9\n"
#define EDGEC_DENSE_4X2_GROUPED_THREE                                                               \
    "ldr r3, [r0, #%c[second]]\n"                                                                  \
    "ldr r2, [r0], #%c[step]\n"                                                                    \
    "ldr r10, [r1, #(3 * %c[row])]\n"                                                              \
    "ldr lr, [r1, #%c[row]]\n"                                                                     \
    "ldr r12, [r1], #%c[word]\n"                                                                   \
    EDGEC_DENSE_4X2_FLIP                                                                            \
    EDGEC_DENSE_4X2_DOT_THREE                                                                       \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "ldr r12, [r1, #-(%c[word] / 2)]\n"                                                            \
    "ldr lr, [r1, #(%c[row] - %c[word] / 2)]\n"                                                    \
    "ldr r10, [r1, #(3 * %c[row] - %c[word] / 2)]\n"                                               \
    EDGEC_DENSE_4X2_DOT_THREE
#define EDGEC_DENSE_4X2_DUAL_THREE                                                                  \
    "ldr r3, [r0, #%c[second]]\n"                                                                  \
    "ldr r2, [r0], #%c[step]\n"                                                                    \
    EDGEC_DENSE_4X2_FLIP                                                                            \
    "smlad r4, r2, r12, r4\n"                                                                      \
    "smlad r5, r3, r12, r5\n"                                                                      \
    "ldr r10, [r1, #(3 * %c[row])]\n"                                                              \
    "smlad r6, r2, lr, r6\n"                                                                       \
    "ldr r12, [r1, #(%c[word] / 2)]\n"                                                             \
    "smlad r7, r3, lr, r7\n"                                                                       \
    "ldr lr, [r1, #(%c[row] + %c[word] / 2)]\n"                                                    \
    "smlad r8, r2, r10, r8\n"                                                                      \
    "sxtb16 r2, r2, ror #8\n"                                                                      \
    "smlad r9, r3, r10, r9\n"                                                                      \
    "sxtb16 r3, r3, ror #8\n"                                                                      \
    "smlad r4, r2, r12, r4\n"                                                                      \
    "ldr r10, [r1, #(3 * %c[row] + %c[word] / 2)]\n"                                               \
    "smlad r5, r3, r12, r5\n"                                                                      \
    "ldr r12, [r1, #%c[word]]!\n"                                                                  \
    "smlad r6, r2, lr, r6\n"                                                                       \
    "smlad r7, r3, lr, r7\n"                                                                       \
    "ldr lr, [r1, #%c[row]]\n"                                                                     \
    "smlad r8, r2, r10, r8\n"                                                                      \
    "smlad r9, r3, r10, r9\n"

/* One word, for the core (`dual`) and the block (`four`) that the operands name; the loads before
 * the first word; and the comparison with the end of the rows, which is on the stack for four. */
#define EDGEC_DENSE_4X2_ONE_WORD                                                                    \
    ".if %c[dual] && %c[four]\n"                                                                   \
    EDGEC_DENSE_4X2_DUAL                                                                            \
    ".elseif %c[dual]\n"                                                                           \
    EDGEC_DENSE_4X2_DUAL_THREE                                                                      \
    ".elseif %c[four]\n"                                                                           \
    EDGEC_DENSE_4X2_GROUPED                                                                         \
    ".else\n"                                                                                      \
    EDGEC_DENSE_4X2_GROUPED_THREE                                                                   \
    ".endif\n"
#define EDGEC_DENSE_4X2_FIRST_ROWS                                                                  \
    ".if %c[dual]\n"                                                                               \
    "ldr r12, [r1]\n"                                                                              \
    "ldr lr, [r1, #%c[row]]\n"                                                                     \
    ".endif\n"
#define EDGEC_DENSE_4X2_AT_END                                                                      \
    ".if %c[four]\n"                                                                               \
    "ldr r2, [sp]\n"                                                                               \
    "cmp r1, r2\n"                                                                                 \
    ".else\n"                                                                                      \
    "cmp r1, r11\n"                                                                                \
    ".endif\n"

/* All words of two filters and the rows. */
#define EDGEC_DENSE_4X2_LOOP                                                                        \
    EDGEC_DENSE_4X2_FIRST_ROWS                                                                      \
    ".rept %c[words] %% %c[unrolled]\n"                                                            \
    EDGEC_DENSE_4X2_ONE_WORD                                                                        \
    ".endr\n"                                                                                      \
    ".if %c[words] / %c[unrolled] - 1\n"                                                           \
    ".p2align 2\n"                                                                                 \
    ".endif\n"                                                                                     \
    "2:\n"                                                                                         \
    ".rept %c[unrolled]\n"                                                                         \
    EDGEC_DENSE_4X2_ONE_WORD                                                                        \
    ".endr\n"                                                                                      \
    ".if %c[words] / %c[unrolled] - 1\n"                                                           \
    EDGEC_DENSE_4X2_AT_END                                                                          \
    "bne 2b\n"                                                                                     \
    ".endif\n"
/* clang-format on */
#endif

#endif
