/* Responses of a weight pool: what the builders in templates/kernels/_pool_responses.c.j2 use.
 *
 * A builder is a static function that the macro `builder(r)` writes, r a
 * `edgec.lower.pool_tables.ResponseBuilder`:
 *
 *     void NAME(const uint32_t *pool, const uint32_t *sums, int32_t zero_point, const int8_t *a,
 *               const int8_t *b, int32_t channels, int32_t bits, uint32_t *out)
 *
 * a, b: `channels` int8 codes of a pixel (no alignment needed), or NULL for a pixel of padding.
 * pool: what `pool_tables.response_table(vectors, kind)` gives.
 * sums: what `pool_tables.response_sums(vectors)` gives; read only by kinds bitserial and nibble
 *       of a builder with `zero_is_min` False, else it may be NULL.
 * zero_point: of the codes; -128 for a builder with `zero_is_min`.
 * bits: activation width 1..8 of a builder with `bits` None; ignored by the others.
 * out: word s of group g (g < ceil(channels / G)) goes to out[(g * S + s) * row_words].
 *
 * With lanes = 2 the word is r_a + 65536 * r_b mod 2^32, r the rounded responses (qops.Pooling).
 * With lanes = 1 it is the exact response of pixel a (shift 0) as int32; b is ignored.
 *
 * Words hold four 8-bit or two 16-bit numbers, the first one in the low bits, on every computer.
 */
#ifndef EDGEC_POOL_RESPONSES_H
#define EDGEC_POOL_RESPONSES_H

#include <stddef.h>
#include <stdint.h>

#include "edgec/math.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP)
#define EDGEC_POOL_DSP 1
#else
#define EDGEC_POOL_DSP 0
#endif

#if defined(__GNUC__) && defined(__thumb2__)
#define EDGEC_POOL_THUMB2 1
#else
#define EDGEC_POOL_THUMB2 0
#endif

#define EDGEC_POOL_LANES 0x00010001U /* one in each 16-bit lane */
#define EDGEC_POOL_BYTES 0x01010101U /* one in each byte */

/* ---- Codes of a group ---- */

/* Four codes as a word. */
EDGEC_INLINE uint32_t edgec_pool_word(const int8_t *codes) {
    return (uint32_t)(uint8_t)codes[0] | (uint32_t)(uint8_t)codes[1] << 8 |
           (uint32_t)(uint8_t)codes[2] << 16 | (uint32_t)(uint8_t)codes[3] << 24;
}

/* Codes of a group of `size` channels, of which the pixel holds `count` (or all: count >= size);
 * the others, and all of a pixel of padding, are `zero_point`. */
EDGEC_INLINE void edgec_pool_codes(uint32_t *words, int32_t size, const int8_t *pixel,
                                   int32_t count, int32_t zero_point) {
    const uint32_t zero = (uint32_t)(uint8_t)zero_point * EDGEC_POOL_BYTES;
    for (int32_t i = 0; i < size / 4; i++) {
        words[i] = zero;
    }
    if (pixel == NULL) {
        return;
    }
    if (count >= size) {
        for (int32_t i = 0; i < size / 4; i++) {
            words[i] = edgec_pool_word(pixel + 4 * i);
        }
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = 8 * (i % 4);
        words[i / 4] &= ~(0xFFU << at);
        words[i / 4] |= (uint32_t)(uint8_t)pixel[i] << at;
    }
}

/* t(q) of four codes: rounded to multiples of 2^drop, drop = 8 - bits. */
EDGEC_INLINE uint32_t edgec_pool_round(uint32_t codes, int32_t drop) {
    const uint32_t unsigned_codes = codes ^ (0x80U * EDGEC_POOL_BYTES);
    if (drop == 0) {
        return unsigned_codes;
    }
    const uint32_t half = (EDGEC_POOL_BYTES << drop) >> 1;
    const uint32_t kept = ((0xFFU << drop) & 0xFFU) * EDGEC_POOL_BYTES;
#if EDGEC_POOL_DSP
    uint32_t sum;
    __asm__("uqadd8 %0, %1, %2" : "=r"(sum) : "r"(unsigned_codes), "r"(half));
    return sum & kept;
#else
    /* Bits 0..6 of each byte first, so that no carry leaves it; then bit 7, and its carry. */
    const uint32_t high = unsigned_codes & (0x80U * EDGEC_POOL_BYTES);
    const uint32_t sum = (unsigned_codes ^ high) + half;
    const uint32_t over = (sum & high) >> 7;
    return ((sum ^ high) | over * 0xFFU) & kept;
#endif
}

/* t(zero_point), rounded alike: what every code is taken relative to. */
EDGEC_INLINE uint32_t edgec_pool_zero(int32_t zero_point, int32_t drop) {
    return edgec_pool_round((uint32_t)(uint8_t)zero_point, drop) & 0xFFU;
}

/* ---- Lanes ---- */

/* rshr(r, shift) of both signed lanes of a linear word; shift in [0, 15]. */
EDGEC_INLINE uint32_t edgec_pool_rshr(uint32_t word, int32_t shift) {
    if (shift == 0) {
        return word;
    }
    const int32_t low = (int16_t)(uint16_t)word;
    const int32_t high = (int32_t)(word - (uint32_t)low) >> 16;
    return (uint32_t)edgec_rshr32(low, shift) + ((uint32_t)edgec_rshr32(high, shift) << 16);
}

/* From sums of table entries to responses: every lane is its sum + start, shifted to the right and
 * to the left, less the bias.  Lanes with start are unsigned: 2^15 more than the signed sum. */
typedef struct edgec_pool_scale {
    int32_t right;
    int32_t left;
    uint32_t start;
    uint32_t bias;
} edgec_pool_scale_t;

/* Up to this shift to the right, half a unit is part of start: a lane still holds every sum. */
#define EDGEC_POOL_HALF_SHIFT 7

/* Sums of planes are in units of 2^drop, and each plane's entries are 128 too large. */
EDGEC_INLINE edgec_pool_scale_t edgec_pool_scale(int32_t shift, int32_t drop) {
    const int32_t right = (shift > drop) ? shift - drop : 0;
    const int32_t left = (drop > shift) ? drop - shift : 0;
    const uint32_t half = (right <= EDGEC_POOL_HALF_SHIFT) ? (1U << right) >> 1 : 0;
    const uint32_t start = half + 0x8000U - 0x80U * ((0x100U >> drop) - 1U);
    return (edgec_pool_scale_t){
        .right = right,
        .left = left,
        .start = start * EDGEC_POOL_LANES,
        .bias = (0x8000U >> right) * EDGEC_POOL_LANES,
    };
}

/* Unsigned lanes, rounded and shifted to the right; still biased. */
EDGEC_INLINE uint32_t edgec_pool_shifted(uint32_t lanes, edgec_pool_scale_t scale) {
    if (scale.right == 0) {
        return lanes;
    }
    if (scale.right <= EDGEC_POOL_HALF_SHIFT) {
        return (lanes >> scale.right) & ((0xFFFFU >> scale.right) * EDGEC_POOL_LANES);
    }
    const int32_t most = scale.right - 1;
    const uint32_t twice = (lanes >> most) & ((0xFFFFU >> most) * EDGEC_POOL_LANES);
    return ((twice + EDGEC_POOL_LANES) >> 1) & (0x7FFFU * EDGEC_POOL_LANES);
}

/* The table word of the low lanes of two pixels. */
EDGEC_INLINE uint32_t edgec_pool_join_low(uint32_t a, uint32_t b, edgec_pool_scale_t scale) {
    return ((a & 0xFFFFU) + (b << 16) - scale.bias) << scale.left;
}

/* That of the high lanes. */
EDGEC_INLINE uint32_t edgec_pool_join_high(uint32_t a, uint32_t b, edgec_pool_scale_t scale) {
    return ((a >> 16) + (b & 0xFFFF0000U) - scale.bias) << scale.left;
}

/* A lane of a single pixel as int32: exact, `scale` without a shift to the right. */
EDGEC_INLINE uint32_t edgec_pool_single(uint32_t lane, edgec_pool_scale_t scale) {
    return ((lane & 0xFFFFU) - (scale.bias & 0xFFFFU)) << scale.left;
}

/* Signed 16-bit numbers of a word of the pool. */
EDGEC_INLINE uint32_t edgec_pool_low(uint32_t word) {
    return (uint32_t)(int16_t)(uint16_t)word;
}

EDGEC_INLINE uint32_t edgec_pool_high(uint32_t word) {
    return (uint32_t)((int32_t)word >> 16);
}

/* Store a register at the address in another, which moves on by %[step] bytes. */
#define EDGEC_POOL_STORE(value, address)                                                           \
    ".if %c[step] < 256\n"                                                                         \
    "str " value ", [" address "], %[step]\n"                                                      \
    ".else\n"                                                                                      \
    "str " value ", [" address "]\n"                                                               \
    "addw " address ", " address ", #(%c[step] & 4095)\n"                                          \
    ".if %c[step] >> 12\n"                                                                         \
    "add " address ", " address ", #(%c[step] & ~4095)\n"                                          \
    ".endif\n"                                                                                     \
    ".endif\n"

/* Store four registers that way. */
#define EDGEC_POOL_STORE4(first, second, third, fourth, address)                                   \
    ".if %c[step] <= 1364\n"                                                                       \
    "str " first ", [" address "]\n"                                                               \
    "str " second ", [" address ", %[step]]\n"                                                     \
    "str " third ", [" address ", #(2 * %c[step])]\n"                                              \
    "str " fourth ", [" address ", #(3 * %c[step])]\n"                                             \
    "addw " address ", " address ", #(4 * %c[step] & 4095)\n"                                      \
    ".if 4 * %c[step] >> 12\n"                                                                     \
    "add " address ", " address ", #(4 * %c[step] & ~4095)\n"                                      \
    ".endif\n"                                                                                     \
    ".else\n" EDGEC_POOL_STORE(first, address) EDGEC_POOL_STORE(second, address)                   \
        EDGEC_POOL_STORE(third, address) EDGEC_POOL_STORE(fourth, address) ".endif\n"

/* ---- Multiply ---- */

#if EDGEC_POOL_DSP

/* Bytes 0 and 2 of a word as 16-bit lanes. */
EDGEC_INLINE uint32_t edgec_pool_even(uint32_t word) {
    uint32_t lanes;
    __asm__("uxtb16 %0, %1" : "=r"(lanes) : "r"(word));
    return lanes;
}

/* Bytes 1 and 3. */
EDGEC_INLINE uint32_t edgec_pool_odd(uint32_t word) {
    uint32_t lanes;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(lanes) : "r"(word));
    return lanes;
}

/* Lane-wise difference of signed lanes. */
EDGEC_INLINE uint32_t edgec_pool_minus(uint32_t a, uint32_t b) {
    uint32_t lanes;
    __asm__("ssub16 %0, %1, %2" : "=r"(lanes) : "r"(a), "r"(b));
    return lanes;
}

/* sum + the products of two pairs of signed lanes. */
EDGEC_INLINE int32_t edgec_pool_mac(uint32_t a, uint32_t b, int32_t sum) {
    int32_t result;
    __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

/* Define `name`, which writes the responses of two pixels to `size` vectors of eight weights, a
 * multiple of `unrolled`: pixels holds the four words of a, then those of b. */
#define EDGEC_POOL_PRODUCTS(name, size, unrolled, shift, row)                                      \
    __attribute__((noinline)) static void name(const uint32_t *pixels, const uint32_t *pool,       \
                                               uint32_t *out) {                                    \
        register const uint32_t *x __asm__("r0") = pixels;                                         \
        register const uint32_t *p __asm__("r1") = pool;                                           \
        register uint32_t *to __asm__("r2") = out;                                                 \
        register const uint32_t *end __asm__("r3") = pool + 4 * (size);                            \
        __asm__ volatile(                                                                          \
            "push {r3-r11, lr}\n"                                                                  \
            "ldm r0, {r4-r11}\n"                                                                   \
            "1:\n"                                                                                 \
            ".rept %c[times]\n"                                                                    \
            "ldrd r0, r3, [r1], #8\n"                                                              \
            ".if %c[right]\n"                                                                      \
            "mov lr, %[half]\n"                                                                    \
            "smlad r12, r4, r0, lr\n"                                                              \
            "smlad lr, r8, r0, lr\n"                                                               \
            ".else\n"                                                                              \
            "smuad r12, r4, r0\n"                                                                  \
            "smuad lr, r8, r0\n"                                                                   \
            ".endif\n"                                                                             \
            "smlad r12, r5, r3, r12\n"                                                             \
            "smlad lr, r9, r3, lr\n"                                                               \
            "ldrd r0, r3, [r1], #8\n"                                                              \
            "smlad r12, r6, r0, r12\n"                                                             \
            "smlad lr, r10, r0, lr\n"                                                              \
            "smlad r12, r7, r3, r12\n"                                                             \
            "smlad lr, r11, r3, lr\n"                                                              \
            ".if %c[right]\n"                                                                      \
            "asr r12, r12, %[right]\n"                                                             \
            "asr lr, lr, %[right]\n"                                                               \
            ".endif\n"                                                                             \
            "add r12, r12, lr, lsl #16\n" EDGEC_POOL_STORE("r12", "r2") ".endr\n"                  \
                                                                        "ldr r0, [sp]\n"           \
                                                                        "cmp r0, r1\n"             \
                                                                        "bne 1b\n"                 \
                                                                        "pop {r3-r11, lr}\n"       \
            : "+r"(x), "+r"(p), "+r"(to), "+r"(end)                                                \
            : [times] "i"(unrolled), [right] "i"(shift), [half] "i"((1 << (shift)) >> 1),          \
              [step] "i"(4 * (row))                                                                \
            : "r12", "memory", "cc");                                                              \
    }

#else

EDGEC_INLINE uint32_t edgec_pool_even(uint32_t word) {
    return word & 0x00FF00FFU;
}

EDGEC_INLINE uint32_t edgec_pool_odd(uint32_t word) {
    return (word >> 8) & 0x00FF00FFU;
}

#if EDGEC_POOL_THUMB2

/* Add the products of a weight with a code of each pixel. */
#define EDGEC_POOL_MAC(weight, pixels) "mla r12, " pixels ", " weight ", r12\n"

/* As above; pixels holds eight words with a code of a in the low and one of b in the high lane.
 * The shift is at most EDGEC_POOL_HALF_SHIFT: lanes with half a unit and 2^15 stay unsigned. */
#define EDGEC_POOL_PRODUCTS(name, size, unrolled, shift, row)                                      \
    __attribute__((noinline)) static void name(const uint32_t *pixels, const uint32_t *pool,       \
                                               uint32_t *out) {                                    \
        register const uint32_t *x __asm__("r0") = pixels;                                         \
        register const uint32_t *p __asm__("r1") = pool;                                           \
        register uint32_t *to __asm__("r2") = out;                                                 \
        register const uint32_t *end __asm__("r3") = pool + 4 * (size);                            \
        __asm__ volatile(                                                                          \
            "push {r3-r11, lr}\n"                                                                  \
            "ldm r0, {r4-r11}\n"                                                                   \
            "1:\n"                                                                                 \
            ".rept %c[times]\n"                                                                    \
            "ldrsh r0, [r1]\n"                                                                     \
            "ldrsh r3, [r1, #2]\n"                                                                 \
            "ldrsh lr, [r1, #4]\n"                                                                 \
            "mul r12, r4, r0\n" EDGEC_POOL_MAC("r3", "r5") EDGEC_POOL_MAC(                         \
                "lr",                                                                              \
                "r6") "ldrsh r0, [r1, #6]\n"                                                       \
                      "ldrsh r3, [r1, #8]\n"                                                       \
                      "ldrsh lr, [r1, #10]\n" EDGEC_POOL_MAC("r0", "r7")                           \
                          EDGEC_POOL_MAC("r3", "r8") EDGEC_POOL_MAC(                               \
                              "lr",                                                                \
                              "r9") "ldrsh r0, [r1, #12]\n"                                        \
                                    "ldrsh r3, [r1, #14]\n" EDGEC_POOL_MAC("r0", "r10")            \
                                        EDGEC_POOL_MAC(                                            \
                                            "r3",                                                  \
                                            "r11") "add r1, r1, #16\n"                             \
                                                   ".if %c[right]\n"                               \
                                                   "add r12, r12, %[half]\n"                       \
                                                   "add r12, r12, #0x80008000\n"                   \
                                                   "ubfx r0, r12, %[right], #(16 - %c[right])\n"   \
                                                   "lsr r12, r12, #(16 + %c[right])\n"             \
                                                   "add r12, r0, r12, lsl #16\n"                   \
                                                   "sub r12, r12, %[bias]\n"                       \
                                                   ".endif\n" EDGEC_POOL_STORE(                    \
                                                       "r12", "r2") ".endr\n"                      \
                                                                    "ldr r0, [sp]\n"               \
                                                                    "cmp r0, r1\n"                 \
                                                                    "bne 1b\n"                     \
                                                                    "pop {r3-r11, lr}\n"           \
            : "+r"(x), "+r"(p), "+r"(to), "+r"(end)                                                \
            : [times] "i"(unrolled), [right] "i"(shift),                                           \
              [half] "i"(((1 << (shift)) >> 1) * 0x10001),                                         \
              [bias] "i"((0x8000 >> (shift)) * 0x10001U), [step] "i"(4 * (row))                    \
            : "r12", "memory", "cc");                                                              \
    }

#endif

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

/* Two pixels: the rows of a, then those of b. */
typedef struct edgec_pool_pair {
    const uint32_t *rows[16];
    uint32_t start;
    uint32_t *out;
    const uint32_t *end; /* of out */
} edgec_pool_pair_t;

#if EDGEC_POOL_THUMB2

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
    ".set edgec_q, 0\n" EDGEC_POOL_LOAD_ROW(                                                       \
        rows) "ldr r12, [lr, #" start "]\n" EDGEC_POOL_FIRST_LANES("r0", "r4", "r5")               \
        EDGEC_POOL_FIRST_LANES("r1", "r6", "r7") EDGEC_POOL_FIRST_LANES("r2", "r8", "r9")          \
            EDGEC_POOL_FIRST_LANES("r3", "r10",                                                    \
                                   "r11") ".rept " planes " - 1\n"                                 \
                                          ".set edgec_q, edgec_q + 1\n" EDGEC_POOL_LOAD_ROW(rows)  \
                                              EDGEC_POOL_MORE_LANES("r0", "r4", "r5")              \
                                                  EDGEC_POOL_MORE_LANES("r1", "r6", "r7")          \
                                                      EDGEC_POOL_MORE_LANES("r2", "r8", "r9")      \
                                                          EDGEC_POOL_MORE_LANES("r3", "r10",       \
                                                                                "r11") ".endr\n"

/* Lanes of two pixels, in place: low lanes, a's in the lower half, to a, high lanes to b. */
#define EDGEC_POOL_JOIN_LANES(a, b)                                                                \
    ".if %c[right]\n"                                                                              \
    "and " a ", lr, " a ", lsr %[right]\n"                                                         \
    "and " b ", lr, " b ", lsr %[right]\n"                                                         \
    ".endif\n"                                                                                     \
    "lsr r12, " a ", #16\n"                                                                        \
    "bfi " a ", " b ", #16, #16\n"                                                                 \
    "bfi " b ", r12, #0, #16\n"                                                                    \
    "sub " a ", " a ", %[bias]\n"                                                                  \
    "sub " b ", " b ", %[bias]\n"                                                                  \
    ".if %c[left]\n"                                                                               \
    "lsl " a ", " a ", %[left]\n"                                                                  \
    "lsl " b ", " b ", %[left]\n"                                                                  \
    ".endif\n"

/* Join the lanes of four vectors and store them: a's sums at [sp + from], b's in registers. */
#define EDGEC_POOL_JOIN_WORD(from, even, odd)                                                      \
    "ldrd r0, r1, [sp, #" from "]\n" EDGEC_POOL_JOIN_LANES("r0", even)                             \
        EDGEC_POOL_JOIN_LANES("r1", odd) EDGEC_POOL_STORE4("r0", "r1", even, odd, "r2")

/* Define `name`, which writes the table words of two pixels, sixteen vectors at a time, what
 * `edgec_pool_shifted`, `edgec_pool_join_low` and `edgec_pool_join_high` do with the sums of
 * `planes` rows; shifted to the right by up to EDGEC_POOL_HALF_SHIFT.  Moves all pointers. */
#define EDGEC_POOL_WRITE(name, planes, to_right, to_left, row)                                     \
    __attribute__((noinline, unused)) static void name(edgec_pool_pair_t *state) {                 \
        register edgec_pool_pair_t *r __asm__("r0") = state;                                       \
        __asm__ volatile(                                                                          \
            "push {r4-r11, lr}\n"                                                                  \
            "sub sp, sp, #36\n"                                                                    \
            "str r0, [sp, #32]\n"                                                                  \
            "mov lr, r0\n"                                                                         \
            "1:\n" EDGEC_POOL_BLOCK(                                                               \
                #planes, "0",                                                                      \
                "64") "str r4, [sp]\n"                                                             \
                      "str r5, [sp, #4]\n"                                                         \
                      "str r6, [sp, #8]\n"                                                         \
                      "str r7, [sp, #12]\n"                                                        \
                      "str r8, [sp, #16]\n"                                                        \
                      "str r9, [sp, #20]\n"                                                        \
                      "str r10, [sp, #24]\n"                                                       \
                      "str r11, [sp, #28]\n" EDGEC_POOL_BLOCK(                                     \
                          #planes, "32",                                                           \
                          "64") "ldr r2, [lr, #68]\n"                                              \
                                "movw lr, %[mask]\n"                                               \
                                "movt lr, %[mask]\n" EDGEC_POOL_JOIN_WORD("0", "r4", "r5")         \
                                    EDGEC_POOL_JOIN_WORD("8", "r6", "r7")                          \
                                        EDGEC_POOL_JOIN_WORD("16", "r8", "r9")                     \
                                            EDGEC_POOL_JOIN_WORD("24", "r10",                      \
                                                                 "r11") "ldr lr, [sp, #32]\n"      \
                                                                        "ldr r0, [lr, #72]\n"      \
                                                                        "str r2, [lr, #68]\n"      \
                                                                        "cmp r0, r2\n"             \
                                                                        "bne 1b\n"                 \
                                                                        "add sp, sp, #36\n"        \
                                                                        "pop {r4-r11, lr}\n"       \
            : "+r"(r)                                                                              \
            : [right] "i"(to_right), [left] "i"(to_left), [mask] "i"(0xFFFF >> (to_right)),        \
              [bias] "i"((0x8000 >> (to_right)) * 0x10001U), [step] "i"(4 * (row))                 \
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
