/* The products of dense_4x2_s8_dsp.h in C: a pair of filters with four rows, or with three.
 *
 * On x86-64 one instruction multiplies the pairs of four rows.  All forms compute the same,
 * exactly.
 */
#ifndef EDGEC_DENSE_DENSE_4X2_SUMS_H
#define EDGEC_DENSE_DENSE_4X2_SUMS_H

#include <stdint.h>

#include "edgec/arithmetic/pairs_s16.h"

#if defined(__SSE2__) && !defined(EDGEC_PLAIN_C)
#include <emmintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of the words of a pair of filters and of its rows.  Distances between words of rows are in
 * words, others in bytes. */
typedef struct edgec_dense_4x2_from {
    const int8_t *filters;
    int32_t second;           /* from a word to that of the second filter */
    int32_t step;             /* to the next word */
    const edgec_pair_t *rows; /* the first word of row 0 */
    int32_t row;              /* to the word of the next row: 1 where four are interleaved */
    int32_t next;             /* to the next word: 8 where they are, else 2 */
    int32_t words;
    uint32_t flip; /* the signs of a word that are to be flipped; rows are interleaved then */
    int32_t tall;  /* 4; or 3, without row 2 */
} edgec_dense_4x2_from_t;

#if defined(__SSE2__) && !defined(EDGEC_PLAIN_C)
/* A word of a filter, four times. */
EDGEC_INLINE __m128i edgec_dense_4x2_word(const int8_t *from, uint32_t flip) {
    return _mm_set1_epi32((int32_t)(edgec_word_at(from) ^ flip));
}

/* The pairs of four rows that are interleaved, which one instruction multiplies. */
EDGEC_INLINE void edgec_dense_4x2_add_interleaved(const edgec_dense_4x2_from_t *of,
                                                  edgec_s32_t *sums) {
    __m128i first = _mm_set_epi32(sums[6], sums[4], sums[2], sums[0]);
    __m128i second = _mm_set_epi32(sums[7], sums[5], sums[3], sums[1]);
    const __m128i *x = (const __m128i *)(const void *)of->rows;
    const int8_t *w = of->filters;
    for (int32_t i = 0; i < of->words; i++, x += 2, w += of->step) {
        const __m128i even = _mm_loadu_si128(x);
        const __m128i odd = _mm_loadu_si128(x + 1);
        const __m128i w0 = edgec_dense_4x2_word(w, of->flip);
        const __m128i w1 = edgec_dense_4x2_word(w + of->second, of->flip);
        first = _mm_add_epi32(first, _mm_madd_epi16(even, w0));
        second = _mm_add_epi32(second, _mm_madd_epi16(even, w1));
        first = _mm_add_epi32(first, _mm_madd_epi16(odd, _mm_srai_epi16(w0, 8)));
        second = _mm_add_epi32(second, _mm_madd_epi16(odd, _mm_srai_epi16(w1, 8)));
    }
    _mm_storeu_si128((__m128i *)(void *)sums, _mm_unpacklo_epi32(first, second));
    _mm_storeu_si128((__m128i *)(void *)(sums + 4), _mm_unpackhi_epi32(first, second));
}

/* One or two words of a filter, each with its odd bytes, as the pairs of a row lie. */
EDGEC_INLINE __m128i edgec_dense_4x2_two_words(const edgec_dense_4x2_from_t *of, const int8_t *from,
                                               int32_t words) {
    const uint32_t next = (words > 1) ? edgec_word_at(from + of->step) : 0U;
    const __m128i even = _mm_set_epi32(0, 0, (int32_t)next, (int32_t)edgec_word_at(from));
    return _mm_unpacklo_epi32(even, _mm_srai_epi16(even, 8));
}

/* The sums of a row with both filters, in parts. */
typedef struct edgec_dense_4x2_row {
    __m128i first;
    __m128i second;
} edgec_dense_4x2_row_t;

/* Adds the products of one or two words of a row. */
EDGEC_INLINE edgec_dense_4x2_row_t edgec_dense_4x2_row(edgec_dense_4x2_row_t to, const void *from,
                                                       int32_t words, __m128i w0, __m128i w1) {
    const __m128i x = (words > 1) ? _mm_loadu_si128((const __m128i *)from)
                                  : _mm_loadl_epi64((const __m128i *)from);
    to.first = _mm_add_epi32(to.first, _mm_madd_epi16(x, w0));
    to.second = _mm_add_epi32(to.second, _mm_madd_epi16(x, w1));
    return to;
}

/* The sum of the parts. */
EDGEC_INLINE int32_t edgec_dense_4x2_joined(__m128i parts) {
    const __m128i two = _mm_add_epi32(parts, _mm_srli_si128(parts, 8));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_srli_si128(two, 4)));
}

/* Rows that follow each other, two words of one at a time. */
EDGEC_INLINE void edgec_dense_4x2_add_lines(const edgec_dense_4x2_from_t *of, edgec_s32_t *sums) {
    const edgec_dense_4x2_row_t zero = {_mm_setzero_si128(), _mm_setzero_si128()};
    edgec_dense_4x2_row_t row0 = zero;
    edgec_dense_4x2_row_t row1 = zero;
    edgec_dense_4x2_row_t row2 = zero;
    edgec_dense_4x2_row_t row3 = zero;
    const edgec_pair_t *x = of->rows;
    const int8_t *w = of->filters;
    for (int32_t i = 0; i < of->words; i += 2, w += 2 * of->step, x += 4) {
        const int32_t words = (of->words - i > 1) ? 2 : 1;
        const __m128i w0 = edgec_dense_4x2_two_words(of, w, words);
        const __m128i w1 = edgec_dense_4x2_two_words(of, w + of->second, words);
        row0 = edgec_dense_4x2_row(row0, x, words, w0, w1);
        row1 = edgec_dense_4x2_row(row1, x + of->row, words, w0, w1);
        row2 = edgec_dense_4x2_row(row2, x + 2 * of->row, words, w0, w1);
        row3 = edgec_dense_4x2_row(row3, x + 3 * of->row, words, w0, w1);
    }
    sums[0] += edgec_dense_4x2_joined(row0.first);
    sums[1] += edgec_dense_4x2_joined(row0.second);
    sums[2] += edgec_dense_4x2_joined(row1.first);
    sums[3] += edgec_dense_4x2_joined(row1.second);
    sums[4] += edgec_dense_4x2_joined(row2.first);
    sums[5] += edgec_dense_4x2_joined(row2.second);
    sums[6] += edgec_dense_4x2_joined(row3.first);
    sums[7] += edgec_dense_4x2_joined(row3.second);
}

/* Adds the products to `sums`: of row j / 2 with filter j % 2. */
EDGEC_INLINE void edgec_dense_4x2_add(const edgec_dense_4x2_from_t *of, edgec_s32_t *sums) {
    if (of->row == 1) {
        edgec_dense_4x2_add_interleaved(of, sums);
    } else {
        edgec_dense_4x2_add_lines(of, sums);
    }
}
#else
/* Adds the products to `sums`: of row j / 2 with filter j % 2. */
EDGEC_INLINE void edgec_dense_4x2_add(const edgec_dense_4x2_from_t *of, edgec_s32_t *sums) {
    for (int32_t j = 0; j < 8; j++) {
        if (of->tall == 3 && j / 2 == 2) {
            continue;
        }
        const edgec_pair_t *x = of->rows + j / 2 * of->row;
        const int8_t *w = of->filters + j % 2 * of->second;
        int32_t sum = sums[j];
        for (int32_t i = 0; i < of->words; i++, x += of->next, w += of->step) {
            const uint32_t word = edgec_word_at(w) ^ of->flip;
            sum = edgec_pair_dot(word, x[0], sum);
            sum = edgec_pair_dot(edgec_sxtb16_high(word), x[of->next / 2], sum);
        }
        sums[j] = sum;
    }
}
#endif

#ifdef __cplusplus
}
#endif

#endif
