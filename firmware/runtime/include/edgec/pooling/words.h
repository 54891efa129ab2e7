/* Windows whose channels are read a word at a time. */
#ifndef EDGEC_POOLING_WORDS_H
#define EDGEC_POOLING_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "edgec/arithmetic/pairs_s16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of the taps of a window that lie in the image; there may be none. */
typedef struct edgec_window_shape {
    int32_t rows;
    int32_t columns;
    int32_t row;   /* bytes from a row to the next */
    int32_t pixel; /* bytes from a pixel of a row to the next */
} edgec_window_shape_t;

/* Bytes of a word. */
#define EDGEC_POOLING_WORD 4

/* Whether pixels with channels of this many bytes are read and written by words: everywhere, but on
 * cores that reach words only at multiples of four bytes.  The first pixel of a window, its
 * neighbours, its rows and y all lie at multiples of the channels, and of nothing more. */
EDGEC_INLINE bool edgec_pools_words(int32_t bytes) {
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
    return bytes % EDGEC_POOLING_WORD == 0;
#else
    (void)bytes;
    return true;
#endif
}

EDGEC_INLINE uint32_t edgec_pooling_word(const int8_t *from) {
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
    return *(const edgec_pair_t *)(const void *)from;
#else
    return edgec_word_at(from);
#endif
}

EDGEC_INLINE void edgec_put_pooling_word(int8_t *to, uint32_t word) {
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
    *(edgec_pair_t *)(void *)to = word;
#else
    memcpy(to, &word, sizeof word);
#endif
}

#ifdef __cplusplus
}
#endif

#endif
