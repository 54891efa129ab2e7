/* LayerNormalization and RMSNormalization: the numbers of a row, ir/qops/norm.py, QNorm.
 *
 * With w = factor * x + offset (C and -total, or 1 and 0), the shifts follow from the least
 * and the greatest w, the reciprocal from the sum of squares.  One division and one integer square
 * root a row; everything else is products, sums and shifts of 32 bits.
 */
#ifndef EDGEC_NORM_NORM_H
#define EDGEC_NORM_NORM_H

#include <stdint.h>

#include "edgec/arithmetic/pairs_s16.h"
#include "edgec/arithmetic/params.h"
#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* w = factor * x + offset of an element. */
typedef struct edgec_norm_line {
    int32_t factor;
    int32_t offset;
} edgec_norm_line_t;

/* w of two elements. */
typedef struct edgec_norm_two {
    int32_t first;
    int32_t second;
} edgec_norm_two_t;

/* The sum of a row and its extremes. */
typedef struct edgec_norm_sums {
    int32_t total;
    int32_t least;
    int32_t greatest;
} edgec_norm_sums_t;

/* Factor of the elements of a row: u = ((w >> q) * reciprocal + half) >> s. */
typedef struct edgec_norm_row {
    int32_t q;
    int32_t reciprocal;
    int32_t s;
    int32_t half;
} edgec_norm_row_t;

/* The integer nearest to sqrt(n), n in [2^29, 2^31): digit by digit. */
EDGEC_INLINE uint32_t edgec_nearest_root(uint32_t n) {
    uint32_t rest = n;
    uint32_t root = 0;
    for (uint32_t bit = (uint32_t)1 << 30; bit != 0U; bit >>= 2) {
        const uint32_t trial = root + bit;
        root >>= 1;
        if (rest >= trial) {
            rest -= trial;
            root += bit;
        }
    }
    return (rest > root) ? root + 1U : root;
}

/* v ^ (v >> 31): |v|, less 1 for negative v. */
EDGEC_INLINE uint32_t edgec_norm_magnitude(int32_t v) {
    return (uint32_t)(v ^ (v >> 31));
}

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
/* Each half of a or of b, whichever is larger, or smaller. */
EDGEC_INLINE uint32_t edgec_pair_max(uint32_t a, uint32_t b) {
    uint32_t difference;
    __asm__("ssub16 %1, %0, %2\n\tsel %0, %0, %2" : "+r"(a), "=&r"(difference) : "r"(b));
    return a;
}

EDGEC_INLINE uint32_t edgec_pair_min(uint32_t a, uint32_t b) {
    uint32_t difference;
    __asm__("ssub16 %1, %0, %2\n\tsel %0, %2, %0" : "+r"(a), "=&r"(difference) : "r"(b));
    return a;
}

/* The sum and the extremes of `count` elements, two or more. */
EDGEC_INLINE edgec_norm_sums_t edgec_norm_sums(const edgec_s16_t *x, int32_t count) {
    /* The last two stand alone: of an odd number one of them is in the loop as well. */
    uint32_t greatest = edgec_word_at(x + count - 2);
    uint32_t least = greatest;
    int32_t total = (count % 2 != 0) ? x[count - 1] : 0;
    const uint32_t ones = edgec_kept(0x00010001U);
    const edgec_s16_t *const end = x + count - 1;
    for (; x < end - 2; x += 4) {
        const uint32_t pair = edgec_word_at(x);
        const uint32_t next = edgec_word_at(x + 2);
        total = edgec_pair_dot(pair, ones, total);
        total = edgec_pair_dot(next, ones, total);
        greatest = edgec_pair_max(edgec_pair_max(greatest, pair), next);
        least = edgec_pair_min(edgec_pair_min(least, pair), next);
    }
    if (x < end) {
        const uint32_t pair = edgec_word_at(x);
        total = edgec_pair_dot(pair, ones, total);
        greatest = edgec_pair_max(greatest, pair);
        least = edgec_pair_min(least, pair);
    }
    const edgec_norm_sums_t sums = {
        total,
        edgec_min_s32((int16_t)(least & 0xFFFFU), (int32_t)least >> 16),
        edgec_max_s32((int16_t)(greatest & 0xFFFFU), (int32_t)greatest >> 16),
    };
    return sums;
}

/* w of two neighbours; a word is loaded. */
EDGEC_INLINE edgec_norm_two_t edgec_norm_two(const edgec_s16_t *x, edgec_norm_line_t w) {
    const uint32_t pair = edgec_word_at(x);
    const uint32_t factor = (uint32_t)w.factor;
    const edgec_norm_two_t two = {
        edgec_low_low(pair, factor, w.offset),
        edgec_high_low(pair, factor, w.offset),
    };
    return two;
}
#else
/* The sum and the extremes of `count` elements, two or more. */
EDGEC_SEPARATE edgec_norm_sums_t edgec_norm_sums(const edgec_s16_t *x, int32_t count) {
    const edgec_s16_t *const end = x + count;
    int32_t total = 0;
    int32_t least = INT16_MAX;
    int32_t greatest = INT16_MIN;
    if (count % 2 != 0) {
        total = *x++;
        least = total;
        greatest = total;
    }
    while (x != end) {
        const int32_t first = x[0];
        const int32_t second = x[1];
        x += 2;
        total += first + second;
        /* One comparison orders the two. */
        const int32_t low = edgec_min_s32(first, second);
        const int32_t high = edgec_max_s32(first, second);
        least = edgec_min_s32(least, low);
        greatest = edgec_max_s32(greatest, high);
    }
    const edgec_norm_sums_t sums = {total, least, greatest};
    return sums;
}

/* w of two neighbours. */
EDGEC_INLINE edgec_norm_two_t edgec_norm_two(const edgec_s16_t *x, edgec_norm_line_t w) {
    const edgec_norm_two_t two = {w.factor * x[0] + w.offset, w.factor * x[1] + w.offset};
    return two;
}
#endif

/* Bits of the largest magnitude of a row, less 15. */
EDGEC_INLINE int32_t edgec_norm_excess(const edgec_norm_sums_t *sums, edgec_norm_line_t w) {
    const uint32_t low = edgec_norm_magnitude(w.factor * sums->least + w.offset);
    const uint32_t high = edgec_norm_magnitude(w.factor * sums->greatest + w.offset);
    return edgec_bit_length(low | high) - 15;
}

EDGEC_INLINE int32_t edgec_add_square(int32_t value, int32_t sum) {
    return sum + value * value;
}

/* The sum of rshr(w, p)^2. */
EDGEC_INLINE int32_t edgec_norm_squares(const edgec_s16_t *x, int32_t count, edgec_norm_line_t w,
                                        int32_t p) {
    w.offset += (p > 0) ? (int32_t)1 << (p - 1) : 0;
    int32_t sum = 0;
    const edgec_s16_t *const end = x + count - 1;
    for (; x < end - 2; x += 4) {
        const edgec_norm_two_t two = edgec_norm_two(x, w);
        const edgec_norm_two_t more = edgec_norm_two(x + 2, w);
        sum = edgec_add_square(two.first >> p, sum);
        sum = edgec_add_square(two.second >> p, sum);
        sum = edgec_add_square(more.first >> p, sum);
        sum = edgec_add_square(more.second >> p, sum);
    }
    for (; x <= end; x++) {
        sum = edgec_add_square((w.factor * x[0] + w.offset) >> p, sum);
    }
    return sum;
}

/* The numbers of a row from `excess` and the sum of squares of rshr(w, p). */
EDGEC_INLINE edgec_norm_row_t edgec_norm_row(const edgec_norm_params_t *params, int32_t excess,
                                             int32_t p, int32_t squares) {
    edgec_norm_row_t row;
    const int32_t away = 2 * (p - params->least_shift);
    const int32_t epsilon = (away > 30) ? 0 : edgec_rshr32(params->epsilon, away);
    const int32_t sum = edgec_max_s32(squares + epsilon, 1);
    const int32_t j = (31 - edgec_bit_length((uint32_t)sum)) / 2;
    const uint32_t root = edgec_nearest_root((uint32_t)sum << (2 * j));
    row.reciprocal = (int32_t)((((uint32_t)1 << 30) + root / 2U) / root);
    row.q = edgec_max_s32(excess, 0);
    row.s = 15 - j + p - row.q;
    row.half = (row.s > 0) ? (int32_t)1 << (row.s - 1) : 0;
    if (row.q > 0) {
        row.half += row.reciprocal >> 1;
    }
    return row;
}

/* u of an element: w / sqrt(sum w^2), times 2^15. */
EDGEC_INLINE int32_t edgec_norm_unit(int32_t w, edgec_norm_row_t row) {
    return ((w >> row.q) * row.reciprocal + row.half) >> row.s;
}

/* Numbers that map x to u: u = ((((factor * x + offset) >> q) * reciprocal) + half) >> s. */
typedef struct edgec_norm_steps {
    edgec_norm_line_t w;
    edgec_norm_row_t row;
} edgec_norm_steps_t;

/* Defines NAME(x, y, gamma, beta, steps): 2 * PAIRS outputs of int8, the bounds being 127 and -128,
 * or -127 where RAISED is 1. */
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
/* clang-format off */
/* The steps in r4-r9, two elements in r10 and r11, beta and gamma in r12 and lr. */
#define EDGEC_NORM_S8(NAME, PAIRS, SHIFT, RAISED)                                                  \
    __attribute__((noinline, unused)) static void NAME(                                            \
        const edgec_s16_t *x, int8_t *y, const int16_t *gamma, const int32_t *beta,                \
        const edgec_norm_steps_t *steps) {                                                         \
        register const edgec_s16_t *from __asm__("r0") = x;                                        \
        register int8_t *to __asm__("r1") = y;                                                     \
        register const int16_t *factors __asm__("r2") = gamma;                                     \
        register const int32_t *offsets __asm__("r3") = beta;                                      \
        register const edgec_norm_steps_t *numbers __asm__("r12") = steps;                         \
        __asm__ volatile(                                                                          \
            "push {r1-r11, lr}\n"                                                                  \
            "movw r5, #(%c[pairs] * 2)\n"                                                          \
            "add r5, r5, r1\n"                                                                     \
            "str r5, [sp]\n"                                                                       \
            "ldm r12, {r4-r9}\n"                                                                   \
            "1:\n"                                                                                 \
            ".rept 2 - %c[pairs] %% 2\n"                                                           \
            "ldr r10, [r0], #4\n"                                                                  \
            "ldr r12, [r3], #4\n"                                                                  \
            "ldrsh lr, [r2], #2\n"                                                                 \
            "smlatb r11, r10, r4, r5\n"                                                            \
            "smlabb r10, r10, r4, r5\n"                                                            \
            "asr r10, r10, r6\n"                                                                   \
            "mla r10, r10, r7, r9\n"                                                               \
            "asr r10, r10, r8\n"                                                                   \
            "mla r10, r10, lr, r12\n"                                                              \
            "ldr r12, [r3], #4\n"                                                                  \
            "ldrsh lr, [r2], #2\n"                                                                 \
            "asr r11, r11, r6\n"                                                                   \
            "mla r11, r11, r7, r9\n"                                                               \
            "asr r11, r11, r8\n"                                                                   \
            "mla r11, r11, lr, r12\n"                                                              \
            "ssat r10, #8, r10, asr %[shift]\n"                                                    \
            "ssat r11, #8, r11, asr %[shift]\n"                                                    \
            ".if %c[raised]\n"                                                                     \
            "pkhbt r10, r10, r11, lsl #16\n"                                                       \
            "mvn r12, #0x007E007E\n"                                                               \
            "ssub16 lr, r10, r12\n"                                                                \
            "sel r10, r10, r12\n"                                                                  \
            "asr r11, r10, #16\n"                                                                  \
            ".endif\n"                                                                             \
            "strb r10, [r1], #1\n"                                                                 \
            "strb r11, [r1], #1\n"                                                                 \
            ".endr\n"                                                                              \
            "ldr r12, [sp]\n"                                                                      \
            "cmp r1, r12\n"                                                                        \
            "bne 1b\n"                                                                             \
            "pop {r1-r11, lr}\n"                                                                   \
            : "+r"(from), "+r"(to), "+r"(factors), "+r"(offsets), "+r"(numbers)                    \
            : [pairs] "i"(PAIRS), [shift] "i"(SHIFT), [raised] "i"(RAISED)                         \
            : "memory", "cc");                                                                     \
    }
/* clang-format on */
#else
#define EDGEC_NORM_S8(NAME, PAIRS, SHIFT, RAISED)                                                  \
    EDGEC_SEPARATE void NAME(const edgec_s16_t *x, int8_t *y, const int16_t *gamma,                \
                             const int32_t *beta, const edgec_norm_steps_t *steps) {               \
        const edgec_norm_steps_t local = *steps;                                                   \
        for (int32_t c = 0; c < 2 * (PAIRS); c++) {                                                \
            const int32_t w = local.w.factor * x[c] + local.w.offset;                              \
            const int32_t scaled = edgec_norm_unit(w, local.row) * gamma[c] + beta[c];             \
            y[c] = (int8_t)edgec_clamp_s32(scaled >> (SHIFT), INT8_MIN + (RAISED), INT8_MAX);      \
        }                                                                                          \
    }
#endif

#ifdef __cplusplus
}
#endif

#endif
