/* Numbers of bits in which signs differ, with NEON: four rows of x with four filters at a time.
 *
 * 128 pairs of signs are three instructions: EOR, CNT, and an addition of bytes.  Both sides are
 * *packed* as those of dense_4x4_s8_neon.h, and so are read through one pointer each:
 *
 *     rows         [vectors][4 rows][16 bytes], then [4 rows][8 bytes] where the depth ends in half
 *     weights      [vectors][4 filters][16 bytes], ...      edgec.kernels.neon.binary_4x4_neon
 *
 * In A64 sixteen numbers are sums in bytes of as many vectors as these can count, in all registers
 * but the six that they are made in.  Halves of two filters are one vector.  Only kernels for cores
 * with NEON use these functions; there is no C form: tests run them in an emulator.
 */
#ifndef EDGEC_DENSE_BINARY_4X4_NEON_H
#define EDGEC_DENSE_BINARY_4X4_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "edgec/dense/dense_4x4_s8_neon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a vector of four rows or filters. */
#define EDGEC_SIGNS_BLOCK 64
/* Vectors whose bits a byte counts where neighbours are added, with those of a half:
 * 15 * 16 + 8 < 256. */
#define EDGEC_SIGNS_RUN 15

/* Bits in which rows 0 and 1, and 2 and 3, differ from four filters: a row's four side by side. */
typedef struct edgec_neon_apart {
    uint16x8_t low;
    uint16x8_t high;
} edgec_neon_apart_t;

/* Neighbours of two vectors of bytes added up. */
EDGEC_INLINE uint8x16_t edgec_neon_signs_joined(uint8x16_t a, uint8x16_t b) {
#if defined(__aarch64__)
    return vpaddq_u8(a, b);
#else
    return vcombine_u8(vpadd_u8(vget_low_u8(a), vget_high_u8(a)),
                       vpadd_u8(vget_low_u8(b), vget_high_u8(b)));
#endif
}

/* Bits of the half of a row, twice in a vector, and the halves of four filters: neighbours of each.
 */
EDGEC_INLINE uint8x16_t edgec_neon_signs_half(const uint8_t *row, const uint8_t *weights) {
    const uint8x8_t half = vld1_u8(row);
    const uint8x16_t x = vcombine_u8(half, half);
    return edgec_neon_signs_joined(vcntq_u8(veorq_u8(x, vld1q_u8(weights))),
                                   vcntq_u8(veorq_u8(x, vld1q_u8(weights + 16))));
}

/* Bits of rows and filters that are a half each: sums of bytes, for there are 64 at most. */
EDGEC_INLINE edgec_neon_apart_t edgec_neon_signs_short(const uint8_t *rows,
                                                       const uint8_t *weights) {
    const uint8x16_t low = edgec_neon_signs_joined(edgec_neon_signs_half(rows, weights),
                                                   edgec_neon_signs_half(rows + 8, weights));
    const uint8x16_t high = edgec_neon_signs_joined(edgec_neon_signs_half(rows + 16, weights),
                                                    edgec_neon_signs_half(rows + 24, weights));
    const uint8x16_t sums = edgec_neon_signs_joined(low, high);
    const edgec_neon_apart_t apart = {vmovl_u8(vget_low_u8(sums)), vmovl_u8(vget_high_u8(sums))};
    return apart;
}

/* The eight sums of two vectors' neighbours. */
EDGEC_INLINE uint16x8_t edgec_neon_signs_neighbours(uint16x8_t a, uint16x8_t b) {
    return vcombine_u16(vpadd_u16(vget_low_u16(a), vget_high_u16(a)),
                        vpadd_u16(vget_low_u16(b), vget_high_u16(b)));
}

#if defined(__GNUC__) && defined(__aarch64__)
/* clang-format off */
/* A vector of a row in X with the filters in v0-v3. */
#define EDGEC_SIGNS_DIFFER(X)                                                                      \
    "eor v8.16b, " X ".16b, v0.16b\n"                                                              \
    "eor v9.16b, " X ".16b, v1.16b\n"                                                              \
    "eor v10.16b, " X ".16b, v2.16b\n"                                                             \
    "eor v11.16b, " X ".16b, v3.16b\n"
#define EDGEC_SIGNS_FIRST(X, A, B, C, D)                                                           \
    EDGEC_SIGNS_DIFFER(X)                                                                          \
    "cnt " A ".16b, v8.16b\n"                                                                      \
    "cnt " B ".16b, v9.16b\n"                                                                      \
    "cnt " C ".16b, v10.16b\n"                                                                     \
    "cnt " D ".16b, v11.16b\n"
#define EDGEC_SIGNS_NEXT(X, A, B, C, D)                                                            \
    EDGEC_SIGNS_DIFFER(X)                                                                          \
    "cnt v8.16b, v8.16b\n"                                                                         \
    "cnt v9.16b, v9.16b\n"                                                                         \
    "cnt v10.16b, v10.16b\n"                                                                       \
    "cnt v11.16b, v11.16b\n"                                                                       \
    "add " A ".16b, " A ".16b, v8.16b\n"                                                           \
    "add " B ".16b, " B ".16b, v9.16b\n"                                                           \
    "add " C ".16b, " C ".16b, v10.16b\n"                                                          \
    "add " D ".16b, " D ".16b, v11.16b\n"
#define EDGEC_SIGNS_LOADED                                                                         \
    "ldp q2, q3, [%[w], #32]\n"                                                                    \
    "ldp q0, q1, [%[w]], #64\n"                                                                    \
    "ldp q6, q7, [%[x], #32]\n"                                                                    \
    "ldp q4, q5, [%[x]], #64\n"
#define EDGEC_SIGNS_ROWS(EACH)                                                                     \
    EDGEC_SIGNS_LOADED                                                                             \
    EACH("v4", "v16", "v17", "v18", "v19")                                                         \
    EACH("v5", "v20", "v21", "v22", "v23")                                                         \
    EACH("v6", "v24", "v25", "v26", "v27")                                                         \
    EACH("v7", "v28", "v29", "v30", "v31")
/* Of a row: neighbours of two filters side by side. */
#define EDGEC_SIGNS_PAIRED(A, B, C, D)                                                             \
    "addp " A ".16b, " A ".16b, " B ".16b\n"                                                       \
    "addp " C ".16b, " C ".16b, " D ".16b\n"
/* The half of a row, twice in X; of two filters in v0 and v1. */
#define EDGEC_SIGNS_HALVED(X, A, C)                                                                \
    "eor v8.16b, " X ".16b, v0.16b\n"                                                              \
    "eor v9.16b, " X ".16b, v1.16b\n"                                                              \
    "cnt v8.16b, v8.16b\n"                                                                         \
    "cnt v9.16b, v9.16b\n"                                                                         \
    "add " A ".16b, " A ".16b, v8.16b\n"                                                           \
    "add " C ".16b, " C ".16b, v9.16b\n"
#define EDGEC_SIGNS_HALVES                                                                         \
    "ldp q0, q1, [%[w]], #32\n"                                                                    \
    "ld1r {v4.2d}, [%[x]], #8\n"                                                                   \
    "ld1r {v5.2d}, [%[x]], #8\n"                                                                   \
    "ld1r {v6.2d}, [%[x]], #8\n"                                                                   \
    "ld1r {v7.2d}, [%[x]], #8\n"                                                                   \
    EDGEC_SIGNS_HALVED("v4", "v16", "v18")                                                         \
    EDGEC_SIGNS_HALVED("v5", "v20", "v22")                                                         \
    EDGEC_SIGNS_HALVED("v6", "v24", "v26")                                                         \
    EDGEC_SIGNS_HALVED("v7", "v28", "v30")
#define EDGEC_SIGNS_WHOLE(A, C)                                                                    \
    "uaddlp " A ".8h, " A ".16b\n"                                                                 \
    "uaddlp " C ".8h, " C ".16b\n"                                                                 \
    "addp " A ".8h, " A ".8h, " C ".8h\n"
#define EDGEC_SIGNS_COUNTED(HALVES)                                                                \
    __asm__ volatile(EDGEC_SIGNS_ROWS(EDGEC_SIGNS_FIRST)                                           \
                     "b 2f\n"                                                                      \
                     "1:\n"                                                                        \
                     EDGEC_SIGNS_ROWS(EDGEC_SIGNS_NEXT)                                            \
                     "2:\n"                                                                        \
                     "cmp %[w], %[end]\n"                                                          \
                     "b.ne 1b\n"                                                                   \
                     EDGEC_SIGNS_PAIRED("v16", "v17", "v18", "v19")                                \
                     EDGEC_SIGNS_PAIRED("v20", "v21", "v22", "v23")                                \
                     EDGEC_SIGNS_PAIRED("v24", "v25", "v26", "v27")                                \
                     EDGEC_SIGNS_PAIRED("v28", "v29", "v30", "v31")                                \
                     HALVES                                                                        \
                     EDGEC_SIGNS_WHOLE("v16", "v18")                                               \
                     EDGEC_SIGNS_WHOLE("v20", "v22")                                               \
                     EDGEC_SIGNS_WHOLE("v24", "v26")                                               \
                     EDGEC_SIGNS_WHOLE("v28", "v30")                                               \
                     "addp %[low].8h, v16.8h, v20.8h\n"                                            \
                     "addp %[high].8h, v24.8h, v28.8h\n"                                           \
                     : [low] "=w"(apart.low), [high] "=w"(apart.high), [x] "+r"(rows),             \
                       [w] "+r"(weights)                                                           \
                     : [end] "r"(end)                                                              \
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",   \
                       "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",       \
                       "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory")
/* clang-format on */

/* Bits of a run of vectors, of at least one, and of a half after them where `half` says so. */
EDGEC_INLINE edgec_neon_apart_t edgec_neon_signs_counted(const uint8_t *rows,
                                                         const uint8_t *weights, int32_t vectors,
                                                         bool half) {
    edgec_neon_apart_t apart;
    const uint8_t *const end = weights + vectors * EDGEC_SIGNS_BLOCK;
    if (half) {
        EDGEC_SIGNS_COUNTED(EDGEC_SIGNS_HALVES);
    } else {
        EDGEC_SIGNS_COUNTED("");
    }
    return apart;
}

/* Bits of rows and filters of a depth of `vectors`, and a half. */
EDGEC_INLINE edgec_neon_apart_t edgec_neon_signs_apart(const uint8_t *rows, const uint8_t *weights,
                                                       int32_t vectors, bool half) {
    if (vectors == 0) {
        return edgec_neon_signs_short(rows, weights);
    }
    if (vectors <= EDGEC_SIGNS_RUN) {
        return edgec_neon_signs_counted(rows, weights, vectors, half);
    }
    edgec_neon_apart_t sum = edgec_neon_signs_counted(rows, weights, EDGEC_SIGNS_RUN, false);
    for (int32_t done = EDGEC_SIGNS_RUN; done < vectors; done += EDGEC_SIGNS_RUN) {
        const bool is_last = vectors - done <= EDGEC_SIGNS_RUN;
        const uint8_t *const x = rows + done * EDGEC_SIGNS_BLOCK;
        const uint8_t *const w = weights + done * EDGEC_SIGNS_BLOCK;
        const edgec_neon_apart_t more =
            is_last ? edgec_neon_signs_counted(x, w, vectors - done, half)
                    : edgec_neon_signs_counted(x, w, EDGEC_SIGNS_RUN, false);
        sum.low = vaddq_u16(sum.low, more.low);
        sum.high = vaddq_u16(sum.high, more.high);
    }
    return sum;
}
#else
/* Bits in which one row differs from one filter, in eight sums. */
EDGEC_INLINE uint16x8_t edgec_neon_signs_more(uint16x8_t sum, uint8x16_t x, const uint8_t *w) {
    return vpadalq_u8(sum, vcntq_u8(veorq_u8(x, vld1q_u8(w))));
}

/* Bits of a half, twice in x, in the low and the high lanes of two filters' sums. */
EDGEC_INLINE uint16x8_t edgec_neon_signs_halves(uint8x16_t x, const uint8_t *w) {
    return vpaddlq_u8(vcntq_u8(veorq_u8(x, vld1q_u8(w))));
}

/* Bits of one row with four filters. */
EDGEC_INLINE uint16x4_t edgec_neon_signs_row(const uint8_t *rows, const uint8_t *weights,
                                             int32_t row, int32_t vectors, bool half) {
    const uint16x8_t zero = vdupq_n_u16(0);
    uint16x8_t a = zero;
    uint16x8_t b = zero;
    uint16x8_t c = zero;
    uint16x8_t d = zero;
    for (int32_t n = 0; n < vectors; n++) {
        const uint8x16_t x = vld1q_u8(rows + n * EDGEC_SIGNS_BLOCK + row * 16);
        const uint8_t *const w = weights + n * EDGEC_SIGNS_BLOCK;
        a = edgec_neon_signs_more(a, x, w);
        b = edgec_neon_signs_more(b, x, w + 16);
        c = edgec_neon_signs_more(c, x, w + 32);
        d = edgec_neon_signs_more(d, x, w + 48);
    }
    uint16x8_t ab = edgec_neon_signs_neighbours(a, b);
    uint16x8_t cd = edgec_neon_signs_neighbours(c, d);
    if (half) {
        const uint8x8_t x = vld1_u8(rows + vectors * EDGEC_SIGNS_BLOCK + row * 8);
        const uint8_t *const w = weights + vectors * EDGEC_SIGNS_BLOCK;
        ab = vaddq_u16(ab, edgec_neon_signs_halves(vcombine_u8(x, x), w));
        cd = vaddq_u16(cd, edgec_neon_signs_halves(vcombine_u8(x, x), w + 16));
    }
    const uint16x8_t pairs = edgec_neon_signs_neighbours(ab, cd);
    return vpadd_u16(vget_low_u16(pairs), vget_high_u16(pairs));
}

EDGEC_INLINE edgec_neon_apart_t edgec_neon_signs_apart(const uint8_t *rows, const uint8_t *weights,
                                                       int32_t vectors, bool half) {
    if (vectors == 0) {
        return edgec_neon_signs_short(rows, weights);
    }
    const edgec_neon_apart_t apart = {
        vcombine_u16(edgec_neon_signs_row(rows, weights, 0, vectors, half),
                     edgec_neon_signs_row(rows, weights, 1, vectors, half)),
        vcombine_u16(edgec_neon_signs_row(rows, weights, 2, vectors, half),
                     edgec_neon_signs_row(rows, weights, 3, vectors, half)),
    };
    return apart;
}
#endif

/* Packs the `words` of one row: `to` is its place in the first block, `half` in the last half.
 * What a block has beyond them is zero already. */
EDGEC_INLINE void edgec_neon_signs_spread(const int8_t *from, int8_t *to, int8_t *half,
                                          int32_t vectors, int32_t bytes) {
    const int32_t whole = edgec_min_s32(bytes, vectors * EDGEC_NEON_LANES);
    edgec_neon_spread(from, to, whole);
    if (bytes > whole) {
        memcpy(half, from + whole, (size_t)(bytes - whole));
    }
}

/* Bytes of 255 where more bits differ than `most` of each row and filter allows, else 0. */
EDGEC_INLINE uint8x16_t edgec_neon_signs_beyond(edgec_neon_apart_t apart, int16x8_t low,
                                                int16x8_t high) {
    return vcombine_u8(vmovn_u16(vcgtq_s16(vreinterpretq_s16_u16(apart.low), low)),
                       vmovn_u16(vcgtq_s16(vreinterpretq_s16_u16(apart.high), high)));
}

/* Four numbers of one row and of another. */
EDGEC_INLINE int16x8_t edgec_neon_signs_two(const int16_t *a, const int16_t *b) {
    return vcombine_s16(vld1_s16(a), vld1_s16(b));
}

/* step * (outside - 2 * bits) of each row and filter. */
EDGEC_INLINE edgec_neon_tile_t edgec_neon_signs_sums(edgec_neon_apart_t apart, int16x8_t low,
                                                     int16x8_t high, int16_t step) {
    const int16x8_t first = vsubq_s16(low, vshlq_n_s16(vreinterpretq_s16_u16(apart.low), 1));
    const int16x8_t last = vsubq_s16(high, vshlq_n_s16(vreinterpretq_s16_u16(apart.high), 1));
    const edgec_neon_tile_t tile = {{
        vmull_n_s16(vget_low_s16(first), step),
        vmull_n_s16(vget_high_s16(first), step),
        vmull_n_s16(vget_low_s16(last), step),
        vmull_n_s16(vget_high_s16(last), step),
    }};
    return tile;
}

/* The bits of a byte, of eight bytes each. */
EDGEC_INLINE uint8x16_t edgec_neon_signs_powers(void) {
    static const uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return vld1q_u8(powers);
}

/* The bits of 16 codes that lie between least and most. */
EDGEC_INLINE uint8x16_t edgec_neon_signs_between(const int8_t *x, const int8_t *least,
                                                 const int8_t *most) {
    const int8x16_t code = vld1q_s8(x);
    const uint8x16_t inside =
        vandq_u8(vcgeq_s8(code, vld1q_s8(least)), vcleq_s8(code, vld1q_s8(most)));
    return vandq_u8(inside, edgec_neon_signs_powers());
}

/* A word of 32 codes. */
EDGEC_INLINE uint32_t edgec_neon_signs_word(const int8_t *x, const int8_t *least,
                                            const int8_t *most) {
    const uint8x16_t pairs =
        edgec_neon_signs_joined(edgec_neon_signs_between(x, least, most),
                                edgec_neon_signs_between(x + 16, least + 16, most + 16));
    const uint8x16_t fours = edgec_neon_signs_joined(pairs, pairs);
    return vgetq_lane_u32(vreinterpretq_u32_u8(edgec_neon_signs_joined(fours, fours)), 0);
}

/* Words of 32 bytes of 255 or 0 for each of four rows, as blocks of four filters have them:
 * masks [8 blocks][4 rows][4]. */
EDGEC_INLINE uint32x4_t edgec_neon_signs_words(const uint8_t *masks) {
    const uint8x16_t bits = edgec_neon_signs_powers();
    const uint32x4x4_t a = vld4q_u32((const uint32_t *)(const void *)masks);
    const uint32x4x4_t b = vld4q_u32((const uint32_t *)(const void *)(masks + 64));
    uint8x16_t row[4];
    for (int32_t t = 0; t < 4; t++) {
        row[t] = edgec_neon_signs_joined(vandq_u8(vreinterpretq_u8_u32(a.val[t]), bits),
                                         vandq_u8(vreinterpretq_u8_u32(b.val[t]), bits));
    }
    return vreinterpretq_u32_u8(edgec_neon_signs_joined(edgec_neon_signs_joined(row[0], row[1]),
                                                        edgec_neon_signs_joined(row[2], row[3])));
}

#ifdef __cplusplus
}
#endif

#endif
#endif
