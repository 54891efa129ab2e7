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

/* The number of bits in each group of four. */
EDGEC_INLINE uint32_t edgec_bits_of_fours(uint32_t word) {
    const uint32_t twos = word - ((word >> 1) & UINT32_C(0x55555555));
    return (twos & UINT32_C(0x33333333)) + ((twos >> 2) & UINT32_C(0x33333333));
}

/* The number of bits of three words in each byte, 24 at most. */
EDGEC_INLINE uint32_t edgec_bits_of_bytes(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t either = a ^ b;
    const uint32_t ones = either ^ c;
    const uint32_t twos = (a & b) | (either & c);
    const uint32_t fours = edgec_bits_of_fours(ones) + 2 * edgec_bits_of_fours(twos);
    return (fours & UINT32_C(0x0F0F0F0F)) + ((fours >> 4) & UINT32_C(0x0F0F0F0F));
}

/* The number of bits in which the words of two rows differ, at least one word. */
EDGEC_INLINE int32_t edgec_bits_apart(const uint32_t *x, const uint32_t *w, int32_t words) {
    uint32_t total = 0;
    while (words > 0) {
        uint32_t bytes = 0;
        int32_t run = words < EDGEC_BINARY_RUN ? words : EDGEC_BINARY_RUN;
        words -= run;
        for (; run >= 3; run -= 3, x += 3, w += 3) {
            bytes += edgec_bits_of_bytes(x[0] ^ w[0], x[1] ^ w[1], x[2] ^ w[2]);
        }
        if (run == 2) {
            bytes += edgec_bits_of_bytes(x[0] ^ w[0], x[1] ^ w[1], 0);
        } else if (run == 1) {
            bytes += edgec_bits_of_bytes(x[0] ^ w[0], 0, 0);
        }
        /* Bytes are added up in pairs: four may be more than a byte holds. */
        const uint32_t pairs = (bytes & UINT32_C(0x00FF00FF)) + ((bytes >> 8) & UINT32_C(0x00FF00FF));
        total += (pairs + (pairs >> 16)) & UINT32_C(0xFFFF);
    }
    return (int32_t)total;
}

#ifdef __cplusplus
}
#endif

#endif
