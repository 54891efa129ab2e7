/* Statistics of a window of samples, as ir/qops/sensor_features.py defines them. */
#ifndef EDGEC_SENSOR_WINDOW_H
#define EDGEC_SENSOR_WINDOW_H

#include "edgec/sound/spectrum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over a window of samples that lie `apart`, and over their scaled deviations. */
typedef struct edgec_window {
    const edgec_s16_t *x;
    int32_t apart;
    int32_t width;
    int32_t total;
    int64_t squares;
    int32_t least;
    int32_t greatest;
    int32_t shift;
    int64_t moments[3];
} edgec_window_t;

/* Sums of the samples. */
EDGEC_SEPARATE void edgec_sums_of(edgec_window_t *w) {
    const edgec_s16_t *x = w->x;
    int32_t total = 0;
    int64_t squares = 0;
    int32_t least = x[0];
    int32_t greatest = x[0];
    for (int32_t n = 0; n < w->width; n++) {
        const int32_t u = *x;
        total += u;
        squares += u * u;
        least = (u < least) ? u : least;
        greatest = (u > greatest) ? u : greatest;
        x += w->apart;
    }
    w->total = total;
    w->squares = squares;
    w->least = least;
    w->greatest = greatest;
}

/* The deviations of the samples from their mean, of at most 14 bits, into d [width]. */
EDGEC_SEPARATE void edgec_deviations(edgec_window_t *w, edgec_s16_t *d) {
    const int32_t above = w->greatest * w->width - w->total;
    const int32_t below = w->total - w->least * w->width;
    const uint32_t largest = (uint32_t)((above > below) ? above : below);
    const edgec_s16_t *x = w->x;
    w->shift = edgec_bit_length(largest) - 14;
    const int32_t up = (w->shift < 0) ? -w->shift : 0;
    const int32_t down = (w->shift > 0) ? w->shift : 0;
    const int32_t half = (down > 0) ? INT32_C(1) << (down - 1) : 0;
    for (int32_t n = 0; n < w->width; n++) {
        const int32_t e = *x * w->width - w->total;
        d[n] = (int16_t)((e * (INT32_C(1) << up) + half) >> down);
        x += w->apart;
    }
}

/* Sums of the second, third and fourth powers of deviations d. */
EDGEC_SEPARATE void edgec_moments(edgec_window_t *w, const edgec_s16_t *d) {
    int64_t second = 0;
    int64_t third = 0;
    int64_t fourth = 0;
    for (int32_t n = 0; n < w->width; n++) {
        const int32_t square = (int32_t)d[n] * d[n];
        const int32_t less = (square + 8) >> 4;
        second += square;
        third += (int64_t)square * d[n];
        fourth += (int64_t)less * less;
    }
    w->moments[0] = second;
    w->moments[1] = third;
    w->moments[2] = fourth;
}

/* The root of the mean square of deviations, times the width and 2^fine. */
EDGEC_INLINE int32_t edgec_std_of(const edgec_window_t *w, int32_t fine) {
    const int64_t variance = w->width * w->squares - (int64_t)w->total * w->total;
    return (int32_t)edgec_root_u64((uint64_t)variance << (2 * fine));
}

/* The same of the samples. */
EDGEC_INLINE int32_t edgec_rms_of(const edgec_window_t *w, int32_t fine) {
    return (int32_t)edgec_root_u64((uint64_t)(w->width * w->squares) << (2 * fine));
}

/* Skewness with 16 fraction bits. */
EDGEC_SEPARATE int32_t edgec_skewness(const edgec_window_t *w) {
    const uint32_t width = (uint32_t)w->width;
    const int64_t third = w->moments[1];
    const uint64_t v = ((uint64_t)w->moments[0] << 20) / width;
    if (v == 0U) {
        return 0;
    }
    const uint64_t size = (uint64_t)((third < 0) ? -third : third);
    const uint64_t divisor = ((v >> 16) * edgec_root_u64(v)) >> 12;
    const int32_t found = (int32_t)((((size << 6) / width) << 12) / divisor);
    return (third < 0) ? -found : found;
}

/* Kurtosis with 14 fraction bits, 3 for a normal distribution and for samples that are all alike.
 */
EDGEC_SEPARATE int32_t edgec_kurtosis(const edgec_window_t *w) {
    const uint32_t width = (uint32_t)w->width;
    const uint64_t v = (((uint64_t)w->moments[0] << 20) / width) >> 17;
    if (v == 0U) {
        return INT32_C(3) << 14;
    }
    return (int32_t)((((uint64_t)w->moments[2] / width) << 14) / ((v * v) >> 14));
}

/* Samples that are below a mean of `total` / width where the one before is not, or the other way
 * round; `total` is 0 for the changes of sign. */
EDGEC_SEPARATE int32_t edgec_crossings(const edgec_window_t *w, int32_t total) {
    const edgec_s16_t *x = w->x;
    int32_t found = 0;
    int32_t was = *x * w->width < total;
    for (int32_t n = 1; n < w->width; n++) {
        x += w->apart;
        const int32_t is = *x * w->width < total;
        found += (is != was) ? 1 : 0;
        was = is;
    }
    return found;
}

/* The logarithm of the power of `count` bins of z from `first` on, plus `more`, of at least
 * `floor`. */
EDGEC_SEPARATE int32_t edgec_band_of(const edgec_s32_t *z, int32_t first, int32_t count,
                                     int32_t more, int32_t floor) {
    uint64_t sum = 0U;
    for (int32_t k = 0; k < count; k++) {
        sum += edgec_bin(z, first + k);
    }
    if (sum == 0U) {
        return floor;
    }
    const int32_t log = edgec_log2_u64(sum) + more;
    return (log > floor) ? log : floor;
}

/* The code of a result: `end` has offset, multiplier, shift and zero point. */
EDGEC_SEPARATE int32_t edgec_feature_code(int32_t result, const edgec_s32_t *end, int32_t low,
                                          int32_t high) {
    const int64_t product = ((int64_t)result + end[0]) * end[1];
    const int64_t code = edgec_rshr64(product, end[2]) + end[3];
    return (code > high) ? high : (code < low) ? low : (int32_t)code;
}

#ifdef __cplusplus
}
#endif

#endif
