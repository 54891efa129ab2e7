/* Sums of rows of a look-up table; see edgec/weight_pool/responses.h. */
#ifndef EDGEC_WEIGHT_POOL_ROWS_H
#define EDGEC_WEIGHT_POOL_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/weight_pool/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Bit planes ---- */

/* Exchange the bits of `mask` with those `distance` above them. */
EDGEC_INLINE uint32_t edgec_pool_exchange(uint32_t word, uint32_t mask, int32_t distance) {
    const uint32_t differ = (word ^ (word >> distance)) & mask;
    return word ^ differ ^ (differ << distance);
}

/* Planes of eight codes, four in `low`, four in `high`: byte q of the result is plane 4 + q, its
 * bit j that of code j.  Codes shifted left by four give planes 0..3.
 *
 * Bit 8c + 4h + q of `word` is plane 4 + q of code 4h + c; two exchanges swap c and q. */
EDGEC_INLINE uint32_t edgec_pool_planes(uint32_t low, uint32_t high) {
    uint32_t word = (high & 0xF0F0F0F0U) | ((low >> 4) & 0x0F0F0F0FU);
    word = edgec_pool_exchange(word, 0x00AA00AAU, 7);
    return edgec_pool_exchange(word, 0x0000CCCCU, 14);
}

/* ---- Sums of rows of the look-up table ---- */

/* Rows to add up: row q of part i is rows[q * parts + i], q = 0 the lowest plane.  Sums of four
 * vectors are two words of unsigned lanes: vectors 0 and 2, then 1 and 3. */
typedef struct edgec_pool_rows {
    const uint32_t *rows[8];
    uint32_t *sums;
    const uint32_t *end; /* of sums */
    uint32_t start;      /* added to every word of sums */
} edgec_pool_rows_t;

/* Two pixels, the rows of a, then those of b; or a alone. */
typedef struct edgec_pool_pair {
    const uint32_t *rows[16];
    uint32_t start;
    uint32_t *out;
    const uint32_t *end; /* of out */
    int32_t at;          /* place of a's lane, if it is alone */
} edgec_pool_pair_t;

#if EDGEC_POOL_THUMB2

/* clang-format off */

/* Sixteen vectors at a time: their sums in r4-r11, four words of a row in r0-r3, its address or a
 * lane in r12, the rows in lr.  Planes are shifted as they are added; the mask of the odd bytes is
 * used before the shift, because only then it is an immediate. */
#define EDGEC_POOL_FIRST_LANES(word, even, odd)                                                    \
    "and " even ", " word ", #0x00FF00FF\n"                                                        \
    "and " odd ", " word ", #0xFF00FF00\n"                                                         \
    "add " even ", " even ", r12\n"                                                                \
    "add " odd ", r12, " odd ", lsr #8\n"
#define EDGEC_POOL_MORE_LANES(word, even, odd)                                                     \
    "and r12, " word ", #0x00FF00FF\n"                                                             \
    "and " word ", " word ", #0xFF00FF00\n"                                                        \
    "add " even ", " even ", r12, lsl #edgec_q\n"                                                  \
    "add " odd ", " odd ", " word ", lsr #(8 - edgec_q)\n"
#define EDGEC_POOL_LOAD_ROW(rows)                                                                  \
    "ldr r12, [lr, #(" rows " + 4 * edgec_q)]\n"                                                   \
    "ldm r12!, {r0-r3}\n"                                                                          \
    "str r12, [lr, #(" rows " + 4 * edgec_q)]\n"
/* rows, start: offsets from lr. */
#define EDGEC_POOL_BLOCK(planes, rows, start)                                                      \
    ".set edgec_q, 0\n"                                                                            \
    EDGEC_POOL_LOAD_ROW(rows)                                                                      \
    "ldr r12, [lr, #" start "]\n"                                                                  \
    EDGEC_POOL_FIRST_LANES("r0", "r4", "r5")                                                       \
    EDGEC_POOL_FIRST_LANES("r1", "r6", "r7")                                                       \
    EDGEC_POOL_FIRST_LANES("r2", "r8", "r9")                                                       \
    EDGEC_POOL_FIRST_LANES("r3", "r10", "r11")                                                     \
    ".rept " planes " - 1\n"                                                                       \
    ".set edgec_q, edgec_q + 1\n"                                                                  \
    EDGEC_POOL_LOAD_ROW(rows)                                                                      \
    EDGEC_POOL_MORE_LANES("r0", "r4", "r5")                                                        \
    EDGEC_POOL_MORE_LANES("r1", "r6", "r7")                                                        \
    EDGEC_POOL_MORE_LANES("r2", "r8", "r9")                                                        \
    EDGEC_POOL_MORE_LANES("r3", "r10", "r11")                                                      \
    ".endr\n"

/* Shift lanes; the mask is in lr. */
#define EDGEC_POOL_SHIFT_LANES(word)                                                               \
    ".if %c[right]\n"                                                                              \
    "and " word ", lr, " word ", lsr %[right]\n"                                                   \
    ".endif\n"                                                                                     \
    ".if %c[left]\n"                                                                               \
    "lsl " word ", " word ", %[left]\n"                                                            \
    ".endif\n"

/* Lanes of two pixels, in place: low lanes, a's in the lower half, to a, high lanes to b. */
#define EDGEC_POOL_JOIN_LANES(a, b)                                                                \
    EDGEC_POOL_SHIFT_LANES(a)                                                                      \
    EDGEC_POOL_SHIFT_LANES(b)                                                                      \
    "lsr r12, " a ", #16\n"                                                                        \
    "bfi " a ", " b ", #16, #16\n"                                                                 \
    "bfi " b ", r12, #0, #16\n"

/* Join the lanes of four vectors and store them: a's sums at [sp + from], b's in registers. */
#define EDGEC_POOL_JOIN_WORD(from, even, odd)                                                      \
    "ldrd r0, r1, [sp, #" from "]\n"                                                               \
    EDGEC_POOL_JOIN_LANES("r0", even)                                                              \
    EDGEC_POOL_JOIN_LANES("r1", odd)                                                               \
    EDGEC_POOL_STORE4("r0", "r1", even, odd, "r2")

#define EDGEC_POOL_MASK                                                                            \
    "movw lr, %[mask]\n"                                                                           \
    "movt lr, %[mask]\n"

/* Next sixteen vectors, up to the end. */
#define EDGEC_POOL_NEXT                                                                            \
    "ldr r0, [lr, #72]\n"                                                                          \
    "str r2, [lr, #68]\n"                                                                          \
    "cmp r0, r2\n"                                                                                 \
    "bne 1b\n"

#define EDGEC_POOL_WRITE_PAIR(planes)                                                              \
    "push {r4-r11, lr}\n"                                                                          \
    "sub sp, sp, #36\n"                                                                            \
    "str r0, [sp, #32]\n"                                                                          \
    "mov lr, r0\n"                                                                                 \
    "1:\n"                                                                                         \
    EDGEC_POOL_BLOCK(planes, "0", "64")                                                            \
    "stm sp, {r4-r11}\n"                                                                           \
    EDGEC_POOL_BLOCK(planes, "32", "64")                                                           \
    "ldr r2, [lr, #68]\n"                                                                          \
    EDGEC_POOL_MASK                                                                                \
    EDGEC_POOL_JOIN_WORD("0", "r4", "r5")                                                          \
    EDGEC_POOL_JOIN_WORD("8", "r6", "r7")                                                          \
    EDGEC_POOL_JOIN_WORD("16", "r8", "r9")                                                         \
    EDGEC_POOL_JOIN_WORD("24", "r10", "r11")                                                       \
    "ldr lr, [sp, #32]\n"                                                                          \
    EDGEC_POOL_NEXT                                                                                \
    "add sp, sp, #36\n"                                                                            \
    "pop {r4-r11, lr}\n"

/* The words of four vectors: lanes beside the bias of a pixel of padding, r3 or r12 << 16. */
#define EDGEC_POOL_LOW_WORD(even, odd)                                                             \
    EDGEC_POOL_SHIFT_LANES(even)                                                                   \
    EDGEC_POOL_SHIFT_LANES(odd)                                                                    \
    "orr r0, r12, " even ", lsr #16\n"                                                             \
    "orr r1, r12, " odd ", lsr #16\n"                                                              \
    "bfi " even ", r3, #16, #16\n"                                                                 \
    "bfi " odd ", r3, #16, #16\n"                                                                  \
    EDGEC_POOL_STORE4(even, odd, "r0", "r1", "r2")
#define EDGEC_POOL_HIGH_WORD(even, odd)                                                            \
    EDGEC_POOL_SHIFT_LANES(even)                                                                   \
    EDGEC_POOL_SHIFT_LANES(odd)                                                                    \
    "orr r0, r3, " even ", lsl #16\n"                                                              \
    "orr r1, r3, " odd ", lsl #16\n"                                                               \
    "bfi " even ", r3, #0, #16\n"                                                                  \
    "bfi " odd ", r3, #0, #16\n"                                                                   \
    EDGEC_POOL_STORE4("r0", "r1", even, odd, "r2")

#define EDGEC_POOL_WRITE_ONE(planes)                                                               \
    "push {r0, r4-r11, lr}\n"                                                                      \
    "mov lr, r0\n"                                                                                 \
    "1:\n"                                                                                         \
    EDGEC_POOL_BLOCK(planes, "0", "64")                                                            \
    "ldr r0, [lr, #76]\n"                                                                          \
    "ldr r2, [lr, #68]\n"                                                                          \
    "movw r3, %[bias]\n"                                                                           \
    "lsl r12, r3, #16\n"                                                                           \
    EDGEC_POOL_MASK                                                                                \
    "cmp r0, #0\n"                                                                                 \
    "beq 2f\n"                                                                                     \
    EDGEC_POOL_HIGH_WORD("r4", "r5")                                                               \
    EDGEC_POOL_HIGH_WORD("r6", "r7")                                                               \
    EDGEC_POOL_HIGH_WORD("r8", "r9")                                                               \
    EDGEC_POOL_HIGH_WORD("r10", "r11")                                                             \
    "b 3f\n"                                                                                       \
    "2:\n"                                                                                         \
    EDGEC_POOL_LOW_WORD("r4", "r5")                                                                \
    EDGEC_POOL_LOW_WORD("r6", "r7")                                                                \
    EDGEC_POOL_LOW_WORD("r8", "r9")                                                                \
    EDGEC_POOL_LOW_WORD("r10", "r11")                                                              \
    "3:\n"                                                                                         \
    "ldr lr, [sp]\n"                                                                               \
    EDGEC_POOL_NEXT                                                                                \
    "pop {r0, r4-r11, lr}\n"

/* clang-format on */

/* Define `name`, which writes table words, sixteen vectors at a time, from the sums of the rows of
 * a pair of pixels (body EDGEC_POOL_WRITE_PAIR) or of one (EDGEC_POOL_WRITE_ONE); the sums are
 * shifted to the right by up to EDGEC_POOL_HALF_SHIFT or to the left.  Moves all pointers. */
#define EDGEC_POOL_WRITE(name, body, planes, to_right, to_left, shift, row)                        \
    __attribute__((noinline, unused)) static void name(edgec_pool_pair_t *state) {                 \
        register edgec_pool_pair_t *r __asm__("r0") = state;                                       \
        __asm__ volatile(                                                                          \
            body(#planes)                                                                          \
            : "+r"(r)                                                                              \
            : [right] "i"(to_right), [left] "i"(to_left), [mask] "i"(0xFFFF >> (to_right)),        \
              [bias] "i"(0x8000 >> (shift)), [step] "i"(4 * (row))                                 \
            : "r1", "r2", "r3", "r12", "memory", "cc");                                            \
    }

/* Add up `planes` rows into the sums, a multiple of eight words.  Moves all pointers. */
#define EDGEC_POOL_SUM_PLANES(planes)                                                              \
    __attribute__((noinline, unused)) static void edgec_pool_sum_##planes(                         \
        edgec_pool_rows_t *state) {                                                                \
        register edgec_pool_rows_t *r __asm__("r0") = state;                                       \
        __asm__ volatile("push {r4-r11, lr}\n"                                                     \
                         "mov lr, r0\n"                                                            \
                         "1:\n" EDGEC_POOL_BLOCK(#planes, "0", "40") "ldr r12, [lr, #32]\n"        \
                                                                     "ldr r0, [lr, #36]\n"         \
                                                                     "stm r12!, {r4-r11}\n"        \
                                                                     "str r12, [lr, #32]\n"        \
                                                                     "cmp r0, r12\n"               \
                                                                     "bne 1b\n"                    \
                                                                     "pop {r4-r11, lr}\n"          \
                         : "+r"(r)                                                                 \
                         :                                                                         \
                         : "r1", "r2", "r3", "r12", "memory", "cc");                               \
    }
EDGEC_POOL_SUM_PLANES(1)
EDGEC_POOL_SUM_PLANES(2)
EDGEC_POOL_SUM_PLANES(3)
EDGEC_POOL_SUM_PLANES(4)
EDGEC_POOL_SUM_PLANES(5)
EDGEC_POOL_SUM_PLANES(6)
EDGEC_POOL_SUM_PLANES(7)
EDGEC_POOL_SUM_PLANES(8)

EDGEC_INLINE void edgec_pool_sum_blocks(edgec_pool_rows_t *state, int32_t planes) {
    switch (planes) {
    case 1:
        edgec_pool_sum_1(state);
        break;
    case 2:
        edgec_pool_sum_2(state);
        break;
    case 3:
        edgec_pool_sum_3(state);
        break;
    case 4:
        edgec_pool_sum_4(state);
        break;
    case 5:
        edgec_pool_sum_5(state);
        break;
    case 6:
        edgec_pool_sum_6(state);
        break;
    case 7:
        edgec_pool_sum_7(state);
        break;
    default:
        edgec_pool_sum_8(state);
        break;
    }
}

#endif

/* The sums of `words` words of entries, each sum plus `start`. */
EDGEC_INLINE void edgec_pool_sum_rows(const uint32_t *const *rows, int32_t planes, int32_t parts,
                                      int32_t words, uint32_t start, uint32_t *sums) {
#if EDGEC_POOL_THUMB2
    if (parts == 1 && words % 4 == 0) {
        edgec_pool_rows_t state;
        state.sums = sums;
        state.end = sums + 2 * words;
        state.start = start;
        for (int32_t q = 0; q < planes; q++) {
            state.rows[q] = rows[q];
        }
        edgec_pool_sum_blocks(&state, planes);
        return;
    }
#endif
    for (int32_t w = 0; w < words; w++) {
        uint32_t even = start;
        uint32_t odd = start;
        for (int32_t q = 0; q < planes; q++) {
            uint32_t entries = rows[q * parts][w];
            for (int32_t i = 1; i < parts; i++) {
                entries += rows[q * parts + i][w];
            }
            even += (entries & 0x00FF00FFU) << q;
            odd += ((entries >> 8) & 0x00FF00FFU) << q;
        }
        sums[2 * w] = even;
        sums[2 * w + 1] = odd;
    }
}

#ifdef __cplusplus
}
#endif

#endif
