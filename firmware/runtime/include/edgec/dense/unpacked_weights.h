/* Weights of 2 to 4 bits, unpacked to bytes.
 *
 * A code is stored as the number of its distance from the least one.  In each word the bytes are
 * four weights that follow each other; a byte holds as many digits as fit, for as many such words:
 *
 *     4 bits   [turns][1 word]    for 2 words of weights
 *     2 bits   [turns][1 word]    for 4 words of weights
 *     3 bits   [turns][3 words]   for 8 words: lower two bits of the first four, of the last four,
 *                                 highest bits of all
 *
 * edgec/kernels/packed/codes.py writes it.  `flip` is added without carries to every word: the
 * signs that kernels with products of pairs want flipped, else 0.
 *
 * A digit u of n bits stands for u - 2^(n-1).  u + 128 - 2^(n-1) never carries into the next byte,
 * and with its highest bit flipped it is that number as int8.
 */
#ifndef EDGEC_DENSE_UNPACKED_WEIGHTS_H
#define EDGEC_DENSE_UNPACKED_WEIGHTS_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/pairs_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Four weights: bytes of digits, 128 - 2^(n-1) in every byte, and what flips signs. */
#define EDGEC_UNPACKED(digits, offset, sign) (((digits) + (offset)) ^ (sign))

/* `turns` words of codes of 4 bits, into twice as many words. */
EDGEC_INLINE void edgec_unpack4(const int8_t *from, uint32_t *to, int32_t turns, uint32_t flip) {
    const uint32_t sign = 0x80808080U ^ flip;
    for (int32_t i = 0; i < turns; i++, from += 4, to += 2) {
        const uint32_t word = edgec_word_at(from);
        to[0] = EDGEC_UNPACKED(word & 0x0F0F0F0FU, 0x78787878U, sign);
        to[1] = EDGEC_UNPACKED((word >> 4) & 0x0F0F0F0FU, 0x78787878U, sign);
    }
}

/* `turns` words of codes of 2 bits, into four times as many words. */
EDGEC_INLINE void edgec_unpack2(const int8_t *from, uint32_t *to, int32_t turns, uint32_t flip) {
    const uint32_t sign = 0x80808080U ^ flip;
    for (int32_t i = 0; i < turns; i++, from += 4, to += 4) {
        const uint32_t word = edgec_word_at(from);
        to[0] = EDGEC_UNPACKED(word & 0x03030303U, 0x7E7E7E7EU, sign);
        to[1] = EDGEC_UNPACKED((word >> 2) & 0x03030303U, 0x7E7E7E7EU, sign);
        to[2] = EDGEC_UNPACKED((word >> 4) & 0x03030303U, 0x7E7E7E7EU, sign);
        to[3] = EDGEC_UNPACKED((word >> 6) & 0x03030303U, 0x7E7E7E7EU, sign);
    }
}

/* `turns` times three words of codes of 3 bits, into eight words each. */
EDGEC_INLINE void edgec_unpack3(const int8_t *from, uint32_t *to, int32_t turns, uint32_t flip) {
    const uint32_t sign = 0x80808080U ^ flip;
    for (int32_t i = 0; i < turns; i++, from += 12) {
        uint32_t high = edgec_word_at(from + 8);
        for (int32_t half = 0; half < 2; half++) {
            uint32_t low = edgec_word_at(from + 4 * half);
            for (int32_t j = 0; j < 4; j++, to++, low >>= 2, high >>= 1) {
                const uint32_t digits = (low & 0x03030303U) | ((high & 0x01010101U) << 2);
                *to = EDGEC_UNPACKED(digits, 0x7C7C7C7CU, sign);
            }
        }
    }
}

#ifdef __cplusplus
}
#endif

#endif
