/* Numbers of bits in which two rows of words differ, for cores that have no instruction for it.
 *
 * Seven words are added up bit by bit, by four full adders, to one of ones, one of twos and one of
 * fours.  The numbers of bits of these are counted side by side, in groups of two bits, of four,
 * and of eight, where they are added up for as many words as eight bits can count.
 */
#ifndef EDGEC_DENSE_BINARY_WORDS_H
#define EDGEC_DENSE_BINARY_WORDS_H

#include <stdint.h>

#include "edgec/arithmetic/pairs_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words that are counted together, sevens: 8 bits of each are no more than a byte holds. */
#define EDGEC_BINARY_RUN 21

/* The bits of every second group of one, two, four and eight bits. */
typedef struct edgec_bit_masks {
    uint32_t ones;
    uint32_t twos;
    uint32_t fours;
} edgec_bit_masks_t;

/* In registers: an operand that is shifted cannot stand beside a constant. */
EDGEC_INLINE edgec_bit_masks_t edgec_bit_masks(void) {
    const edgec_bit_masks_t masks = {
        edgec_kept(UINT32_C(0x55555555)),
        edgec_kept(UINT32_C(0x33333333)),
        edgec_kept(UINT32_C(0x0F0F0F0F)),
    };
    return masks;
}

/* The number of bits in each group of four. */
EDGEC_INLINE uint32_t edgec_bits_of_fours(uint32_t word, edgec_bit_masks_t masks) {
    const uint32_t twos = word - ((word >> 1) & masks.ones);
    return (twos & masks.twos) + ((twos >> 2) & masks.twos);
}

/* Three bits as a number of two: ones and twos. */
typedef struct edgec_bit_sum {
    uint32_t ones;
    uint32_t twos;
} edgec_bit_sum_t;

/* A full adder of each bit of three words. */
EDGEC_INLINE edgec_bit_sum_t edgec_bit_sum(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t either = a ^ b;
    const edgec_bit_sum_t sum = {either ^ c, (a & b) | (either & c)};
    return sum;
}

/* Numbers of each group of four bits, 15 at most, as those of each group of eight. */
EDGEC_INLINE uint32_t edgec_bits_joined(uint32_t fours, edgec_bit_masks_t masks) {
    return (fours & masks.fours) + ((fours >> 4) & masks.fours);
}

/* The number of bits of three words in each byte, 24 at most. */
EDGEC_INLINE uint32_t edgec_bits_of_three(uint32_t a, uint32_t b, uint32_t c,
                                          edgec_bit_masks_t masks) {
    const edgec_bit_sum_t sum = edgec_bit_sum(a, b, c);
    return edgec_bits_joined(
        edgec_bits_of_fours(sum.ones, masks) + 2 * edgec_bits_of_fours(sum.twos, masks), masks);
}

/* The number of bits in which seven words of two rows differ in each byte, 56 at most. */
EDGEC_INLINE uint32_t edgec_bits_of_seven(const uint32_t *x, const uint32_t *w,
                                          edgec_bit_masks_t masks) {
    const edgec_bit_sum_t a = edgec_bit_sum(x[0] ^ w[0], x[1] ^ w[1], x[2] ^ w[2]);
    const edgec_bit_sum_t b = edgec_bit_sum(a.ones, x[3] ^ w[3], x[4] ^ w[4]);
    const edgec_bit_sum_t c = edgec_bit_sum(b.ones, x[5] ^ w[5], x[6] ^ w[6]);
    const edgec_bit_sum_t d = edgec_bit_sum(a.twos, b.twos, c.twos);
    const uint32_t fours =
        edgec_bits_of_fours(c.ones, masks) + 2 * edgec_bits_of_fours(d.ones, masks);
    return edgec_bits_joined(fours, masks) +
           4 * edgec_bits_joined(edgec_bits_of_fours(d.twos, masks), masks);
}

/* The number of bits in which two rows differ, of `sevens` times seven words, and the `rest`; of at
 * most EDGEC_BINARY_RUN words together. */
EDGEC_INLINE uint32_t edgec_run_bits(const uint32_t *x, const uint32_t *w, int32_t sevens,
                                     int32_t rest, edgec_bit_masks_t masks) {
    const uint32_t *const end = x + 7 * sevens;
    uint32_t bytes = 0;
    for (; x != end; x += 7, w += 7) {
        bytes += edgec_bits_of_seven(x, w, masks);
    }
    for (; rest >= 3; rest -= 3, x += 3, w += 3) {
        bytes += edgec_bits_of_three(x[0] ^ w[0], x[1] ^ w[1], x[2] ^ w[2], masks);
    }
    if (rest == 2) {
        bytes += edgec_bits_of_three(x[0] ^ w[0], x[1] ^ w[1], 0, masks);
    } else if (rest == 1) {
        bytes += edgec_bits_of_three(x[0] ^ w[0], 0, 0, masks);
    }
    /* Bytes are added up in pairs: four may be more than a byte holds. */
    const uint32_t pairs = (bytes & UINT32_C(0x00FF00FF)) + ((bytes >> 8) & UINT32_C(0x00FF00FF));
    return (pairs + (pairs >> 16)) & UINT32_C(0xFFFF);
}

/* The number of bits in which the words of two rows differ, a constant number of words. */
EDGEC_INLINE int32_t edgec_bits_apart(const uint32_t *x, const uint32_t *w, int32_t words) {
    const edgec_bit_masks_t masks = edgec_bit_masks();
    const int32_t last = words % EDGEC_BINARY_RUN;
    const uint32_t *const end = x + (words - last);
    uint32_t total = 0;
    for (; x != end; x += EDGEC_BINARY_RUN, w += EDGEC_BINARY_RUN) {
        total += edgec_run_bits(x, w, EDGEC_BINARY_RUN / 7, 0, masks);
    }
    if (last > 0) {
        total += edgec_run_bits(x, w, last / 7, last % 7, masks);
    }
    return (int32_t)total;
}

#ifdef __cplusplus
}
#endif

#endif
