/* Dot products of int8 with NEON: two blocks of dense_4x4_s8_neon.h at a time, on A64.
 *
 * Where magnitudes of weights allow it, the products of two blocks are added up in 16 bits: 32
 * products are five instructions in place of six.  Which blocks go together differs from four
 * filters to four filters (edgec/kernels/neon/pairs.py):
 *
 *     order        uint16: pairs; places of the blocks in the rows, in sixteens of bytes
 *     weights      [pairs][4 filters][2 blocks][16], then [blocks alone][4 filters][16]
 */
#ifndef EDGEC_DENSE_DENSE_4X4_PAIRS_NEON_H
#define EDGEC_DENSE_DENSE_4X4_PAIRS_NEON_H

#include "edgec/dense/dense_4x4_s8_neon.h"

#if defined(__ARM_NEON) && defined(__aarch64__)

#ifdef __cplusplus
extern "C" {
#endif

/* A number of an order. */
EDGEC_INLINE int32_t edgec_neon_place(const int8_t *order) {
    uint16_t place;
    memcpy(&place, order, sizeof place);
    return place;
}

/* clang-format off */
/* All pairs, then all blocks that stand alone; the first products make the sums. */
#define EDGEC_NEON_IN_ORDER(PAIR, ALONE)                                                           \
    "cbz %w[pairs], 3f\n"                                                                          \
    PAIR("saddlp")                                                                                 \
    "b 2f\n"                                                                                       \
    "1:\n"                                                                                         \
    PAIR("sadalp")                                                                                 \
    "2:\n"                                                                                         \
    "subs %w[pairs], %w[pairs], #1\n"                                                              \
    "b.ne 1b\n"                                                                                    \
    "cbz %w[alone], 6f\n"                                                                          \
    "b 4f\n"                                                                                       \
    "3:\n"                                                                                         \
    ALONE("saddlp")                                                                                \
    "b 5f\n"                                                                                       \
    "4:\n"                                                                                         \
    ALONE("sadalp")                                                                                \
    "5:\n"                                                                                         \
    "subs %w[alone], %w[alone], #1\n"                                                              \
    "b.ne 4b\n"                                                                                    \
    "6:\n"
/* Two blocks of a filter, whose weights are in v8 and v9, with the rows in v0-v3 and v4-v7. */
#define EDGEC_NEON_PAIR_OF_FILTER(ADD, A, B, C, D)                                                 \
    "ldp q8, q9, [%[w]], #32\n"                                                                    \
    "smull v10.8h, v0.8b, v8.8b\n"                                                                 \
    "smull v11.8h, v1.8b, v8.8b\n"                                                                 \
    "smull v12.8h, v2.8b, v8.8b\n"                                                                 \
    "smull v13.8h, v3.8b, v8.8b\n"                                                                 \
    "smlal2 v10.8h, v0.16b, v8.16b\n"                                                              \
    "smlal2 v11.8h, v1.16b, v8.16b\n"                                                              \
    "smlal2 v12.8h, v2.16b, v8.16b\n"                                                              \
    "smlal2 v13.8h, v3.16b, v8.16b\n"                                                              \
    "smlal v10.8h, v4.8b, v9.8b\n"                                                                 \
    "smlal v11.8h, v5.8b, v9.8b\n"                                                                 \
    "smlal v12.8h, v6.8b, v9.8b\n"                                                                 \
    "smlal v13.8h, v7.8b, v9.8b\n"                                                                 \
    "smlal2 v10.8h, v4.16b, v9.16b\n"                                                              \
    "smlal2 v11.8h, v5.16b, v9.16b\n"                                                              \
    "smlal2 v12.8h, v6.16b, v9.16b\n"                                                              \
    "smlal2 v13.8h, v7.16b, v9.16b\n"                                                              \
    ADD " " A ".4s, v10.8h\n"                                                                      \
    ADD " " B ".4s, v11.8h\n"                                                                      \
    ADD " " C ".4s, v12.8h\n"                                                                      \
    ADD " " D ".4s, v13.8h\n"
#define EDGEC_NEON_PAIR(ADD)                                                                       \
    "ldr %w[place], [%[order]], #4\n"                                                              \
    "add %[one], %[x], %w[place], uxth #4\n"                                                       \
    "add %[other], %[x], %[place], lsr #12\n"                                                      \
    "ldp q0, q1, [%[one]]\n"                                                                       \
    "ldp q2, q3, [%[one], #32]\n"                                                                  \
    "ldp q4, q5, [%[other]]\n"                                                                     \
    "ldp q6, q7, [%[other], #32]\n"                                                                \
    EDGEC_NEON_PAIR_OF_FILTER(ADD, "%0", "%1", "%2", "%3")                                         \
    EDGEC_NEON_PAIR_OF_FILTER(ADD, "v16", "v19", "v22", "v25")                                     \
    EDGEC_NEON_PAIR_OF_FILTER(ADD, "v17", "v20", "v23", "v26")                                     \
    EDGEC_NEON_PAIR_OF_FILTER(ADD, "v18", "v21", "v24", "v27")
#define EDGEC_NEON_ALONE(ADD)                                                                      \
    "ldrh %w[place], [%[order]], #2\n"                                                             \
    "add %[one], %[x], %w[place], uxth #4\n"                                                       \
    "ldp q2, q3, [%[w], #32]\n"                                                                    \
    "ldp q0, q1, [%[w]], #64\n"                                                                    \
    "ldp q6, q7, [%[one], #32]\n"                                                                  \
    "ldp q4, q5, [%[one]]\n"                                                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "4", "%0", "v16", "v17", "v18")                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "5", "%1", "v19", "v20", "v21")                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "6", "%2", "v22", "v23", "v24")                                       \
    EDGEC_NEON_ROW_OF_X(ADD, "7", "%3", "v25", "v26", "v27")
/* The sums of four rows, with the blocks in an order. */
EDGEC_INLINE edgec_neon_tile_t edgec_neon_paired4(const int8_t *rows, const int8_t *weights,
                                                  const int8_t *order, int32_t blocks) {
    edgec_neon_tile_t tile;
    int32_t pairs = edgec_neon_place(order);
    int32_t alone = blocks - 2 * pairs;
    const int8_t *one;
    const int8_t *other;
    int64_t place;
    order += 2;
    __asm__ volatile(EDGEC_NEON_IN_ORDER(EDGEC_NEON_PAIR, EDGEC_NEON_ALONE)
                     EDGEC_NEON_WHOLE("%0", "v16", "v17", "v18")
                     EDGEC_NEON_WHOLE("%1", "v19", "v20", "v21")
                     EDGEC_NEON_WHOLE("%2", "v22", "v23", "v24")
                     EDGEC_NEON_WHOLE("%3", "v25", "v26", "v27")
                     : "=&w"(tile.row[0]), "=&w"(tile.row[1]), "=&w"(tile.row[2]),
                       "=&w"(tile.row[3]), [w] "+r"(weights), [order] "+r"(order),
                       [pairs] "+r"(pairs), [alone] "+r"(alone), [one] "=&r"(one),
                       [other] "=&r"(other), [place] "=&r"(place)
                     : [x] "r"(rows)
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
                       "v12", "v13", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
                       "v25", "v26", "v27", "cc", "memory");
    return tile;
}
/* The products of a row, in v0 and v1, with two blocks of a filter each. */
#define EDGEC_NEON_PAIR_OF_ROW(ADD)                                                                \
    "ldr %w[place], [%[order]], #4\n"                                                              \
    "add %[one], %[x], %w[place], uxth #4\n"                                                       \
    "add %[other], %[x], %[place], lsr #12\n"                                                      \
    "ldr q0, [%[one]]\n"                                                                           \
    "ldr q1, [%[other]]\n"                                                                         \
    "ldp q2, q3, [%[w]]\n"                                                                         \
    "ldp q4, q5, [%[w], #32]\n"                                                                    \
    "ldp q6, q7, [%[w], #64]\n"                                                                    \
    "ldp q8, q9, [%[w], #96]\n"                                                                    \
    "smull v10.8h, v0.8b, v2.8b\n"                                                                 \
    "smull v11.8h, v0.8b, v4.8b\n"                                                                 \
    "smull v12.8h, v0.8b, v6.8b\n"                                                                 \
    "smull v13.8h, v0.8b, v8.8b\n"                                                                 \
    "smlal2 v10.8h, v0.16b, v2.16b\n"                                                              \
    "smlal2 v11.8h, v0.16b, v4.16b\n"                                                              \
    "smlal2 v12.8h, v0.16b, v6.16b\n"                                                              \
    "smlal2 v13.8h, v0.16b, v8.16b\n"                                                              \
    "smlal v10.8h, v1.8b, v3.8b\n"                                                                 \
    "smlal v11.8h, v1.8b, v5.8b\n"                                                                 \
    "smlal v12.8h, v1.8b, v7.8b\n"                                                                 \
    "smlal v13.8h, v1.8b, v9.8b\n"                                                                 \
    "smlal2 v10.8h, v1.16b, v3.16b\n"                                                              \
    "smlal2 v11.8h, v1.16b, v5.16b\n"                                                              \
    "smlal2 v12.8h, v1.16b, v7.16b\n"                                                              \
    "smlal2 v13.8h, v1.16b, v9.16b\n"                                                              \
    "add %[w], %[w], #128\n"                                                                       \
    ADD " %0.4s, v10.8h\n"                                                                         \
    ADD " v16.4s, v11.8h\n"                                                                        \
    ADD " v17.4s, v12.8h\n"                                                                        \
    ADD " v18.4s, v13.8h\n"
#define EDGEC_NEON_BLOCK_OF_ROW(ADD)                                                               \
    "ldrh %w[place], [%[order]], #2\n"                                                             \
    "ldr q4, [%[x], %[place], lsl #4]\n"                                                           \
    "ldp q2, q3, [%[w], #32]\n"                                                                    \
    "ldp q0, q1, [%[w]], #64\n"                                                                    \
    EDGEC_NEON_ROW_OF_X(ADD, "4", "%0", "v16", "v17", "v18")
/* The sums of the first row. */
EDGEC_INLINE edgec_neon_tile_t edgec_neon_paired1(const int8_t *rows, const int8_t *weights,
                                                  const int8_t *order, int32_t blocks) {
    edgec_neon_tile_t tile;
    int32_t pairs = edgec_neon_place(order);
    int32_t alone = blocks - 2 * pairs;
    const int8_t *one;
    const int8_t *other;
    int64_t place;
    order += 2;
    __asm__ volatile(EDGEC_NEON_IN_ORDER(EDGEC_NEON_PAIR_OF_ROW, EDGEC_NEON_BLOCK_OF_ROW)
                     EDGEC_NEON_WHOLE("%0", "v16", "v17", "v18")
                     : "=&w"(tile.row[0]), [w] "+r"(weights), [order] "+r"(order),
                       [pairs] "+r"(pairs), [alone] "+r"(alone), [one] "=&r"(one),
                       [other] "=&r"(other), [place] "=&r"(place)
                     : [x] "r"(rows)
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
                       "v12", "v13", "v16", "v17", "v18", "cc", "memory");
    return tile;
}
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
#endif
