/* Numbers of bits in which two rows of words differ, for cores that have no instruction for it.
 *
 * Three words are added up bit by bit to one of ones and one of twos (a full adder).  The numbers
 * of bits of both are counted side by side, in groups of two bits, of four, and of eight, where
 * they are added up for as many words as eight bits can count.
 */
#ifndef EDGEC_DENSE_BINARY_WORDS_H
#define EDGEC_DENSE_BINARY_WORDS_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words that are counted together: 8 bits of ten times 24 are no more than a byte holds. */
#define EDGEC_BINARY_RUN 30

/* The bits of every second group of one, two, four and eight bits. */
typedef struct edgec_bit_masks {
    uint32_t ones;
    uint32_t twos;
    uint32_t fours;
} edgec_bit_masks_t;

/* A number that stays in a register: an operand that is shifted cannot stand beside a constant. */
EDGEC_INLINE uint32_t edgec_kept(uint32_t number) {
#if defined(__GNUC__) && defined(__thumb2__)
    __asm__("" : "+r"(number));
#endif
    return number;
}

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

/* The number of bits of three words in each byte, 24 at most. */
EDGEC_INLINE uint32_t edgec_bits_of_bytes(uint32_t a, uint32_t b, uint32_t c,
                                          edgec_bit_masks_t masks) {
    const uint32_t either = a ^ b;
    const uint32_t ones = either ^ c;
    const uint32_t twos = (a & b) | (either & c);
    const uint32_t fours = edgec_bits_of_fours(ones, masks) + 2 * edgec_bits_of_fours(twos, masks);
    return (fours & masks.fours) + ((fours >> 4) & masks.fours);
}

/* The number of bits in which the words of two rows differ, at least one word. */
EDGEC_INLINE int32_t edgec_bits_apart(const uint32_t *x, const uint32_t *w, int32_t words) {
    const edgec_bit_masks_t masks = edgec_bit_masks();
    uint32_t total = 0;
    while (words > 0) {
        const int32_t run = words < EDGEC_BINARY_RUN ? words : EDGEC_BINARY_RUN;
        const uint32_t *const end = x + run / 3 * 3;
        uint32_t bytes = 0;
        words -= run;
        while (x != end) {
            const uint32_t a = *x++ ^ *w++;
            const uint32_t b = *x++ ^ *w++;
            const uint32_t c = *x++ ^ *w++;
            bytes += edgec_bits_of_bytes(a, b, c, masks);
        }
        if (run % 3 == 2) {
            bytes += edgec_bits_of_bytes(x[0] ^ w[0], x[1] ^ w[1], 0, masks);
        } else if (run % 3 == 1) {
            bytes += edgec_bits_of_bytes(x[0] ^ w[0], 0, 0, masks);
        }
        /* Bytes are added up in pairs: four may be more than a byte holds. */
        const uint32_t pairs =
            (bytes & UINT32_C(0x00FF00FF)) + ((bytes >> 8) & UINT32_C(0x00FF00FF));
        total += (pairs + (pairs >> 16)) & UINT32_C(0xFFFF);
    }
    return (int32_t)total;
}

#ifdef __cplusplus
}
#endif

#endif
