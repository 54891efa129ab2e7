/* Responses of a weight pool: what the builders in
 * kernels/weightpool/gather/_pool_responses.c.j2 use.
 *
 * A builder is a static function that the macro `builder(r)` writes, r a
 * `edgec.kernels.weightpool.tables.ResponseBuilder`:
 *
 *     void NAME(const uint32_t *pool, const uint32_t *sums, int32_t zero_point, const int8_t *a,
 *               const int8_t *b, int32_t step, int32_t channels, int32_t bits, uint32_t *out)
 *
 * a, b: `channels` int8 codes of a pixel (no alignment needed), or NULL for a pixel of padding.
 * pool: what `pool_tables.response_table(vectors, kind)` gives; for a builder that `packs`, what
 *       edgec_pool_packed makes of it.
 * sums: what `pool_tables.response_sums(vectors)` gives; read only by kinds bitserial and nibble
 *       of a builder with `zero_is_min` False, else it may be NULL.
 * zero_point: of the codes; -128 for a builder with `zero_is_min`.
 * bits: activation width 1..8 of a builder with `bits` None; ignored by the others.
 * out: word s of group g (g < ceil(channels / G)) goes to out[(g * S + s) * row_words].
 * step: for a builder of two `columns`, from a and b to the pixels of the next one, which go to
 *       out + 1 in the same way.
 *
 * With lanes = 2 the word is r_a + 65536 * r_b + EDGEC_POOL_WORD_BIAS(k) mod 2^32, r the rounded
 * responses (qops.PoolRounding) with shift k: two unsigned lanes.  With lanes = 1 it is the exact
 * response of pixel a (shift 0) as int32; b is ignored.
 *
 * A builder with `lone_columns` comes with a second function, for rows with one lane of padding:
 *
 *     void NAME_lone(const uint32_t *pool, const uint32_t *sums, int32_t zero_point,
 *                    const int8_t *x, int32_t at, int32_t step, int32_t channels, int32_t bits,
 *                    uint32_t *out)
 *
 * The pixels x and, with two of them, x + step are in the lane at bit `at`, 0 or 16; the other lane
 * is that of a pixel of padding.
 */
#ifndef EDGEC_WEIGHT_POOL_RESPONSES_H
#define EDGEC_WEIGHT_POOL_RESPONSES_H

#include "edgec/weight_pool/products.h"
#include "edgec/weight_pool/rows.h"

#endif
