/* The spectrum of a frame of sound in integers, as ir/qops/log_mel.py and ir/qops/dft.py define it.
 */
#ifndef EDGEC_SOUND_SPECTRUM_H
#define EDGEC_SOUND_SPECTRUM_H

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stages and the largest radix that a DFT has. */
#define EDGEC_MOST_STAGES 13
#define EDGEC_MOST_RADIX 13

/* A frame: `width` samples after `before` others, with its window, in a DFT of `size` points.  Its
 * stages have the radices `radix`, the first `twos` of them 2; `sines` is a quarter of a sine of 4
 * `quarter` points, a multiple of the size. */
typedef struct edgec_frame {
    const edgec_s16_t *window;
    const edgec_s32_t *sines;
    const uint8_t *radix;
    int32_t stages;
    int32_t twos;
    int32_t before;
    int32_t width;
    int32_t size;
    int32_t quarter;
    int32_t emphasis;
} edgec_frame_t;

/* Complex numbers of the transform: pairs of real ones where their number is even. */
EDGEC_INLINE int32_t edgec_numbers(const edgec_frame_t *frame) {
    return ((frame->size & 1) == 0) ? frame->size / 2 : frame->size;
}

/* The place of one number after the other in a transform: the digits of its odd stages count up
 * from the last stage on, then the bits of its stages of radix 2. */
typedef struct edgec_places {
    int32_t weight[EDGEC_MOST_STAGES];
    int32_t digit[EDGEC_MOST_STAGES];
    int32_t of_odd;
    int32_t of_bits;
} edgec_places_t;

EDGEC_INLINE void edgec_first_place(edgec_places_t *places, const edgec_frame_t *frame) {
    int32_t weight = INT32_C(1) << frame->twos;
    for (int32_t stage = frame->twos; stage < frame->stages; stage++) {
        places->weight[stage] = weight;
        places->digit[stage] = 0;
        weight *= frame->radix[stage];
    }
    places->of_odd = 0;
    places->of_bits = 0;
}

EDGEC_INLINE void edgec_next_place(edgec_places_t *places, const edgec_frame_t *frame) {
    for (int32_t stage = frame->stages - 1; stage >= frame->twos; stage--) {
        const int32_t digit = places->digit[stage] + 1;
        if (digit < frame->radix[stage]) {
            places->digit[stage] = digit;
            places->of_odd += places->weight[stage];
            return;
        }
        places->digit[stage] = 0;
        places->of_odd -= places->weight[stage] * (digit - 1);
    }
    int32_t bit = (INT32_C(1) << frame->twos) >> 1;
    while ((places->of_bits & bit) != 0) {
        places->of_bits ^= bit;
        bit >>= 1;
    }
    places->of_bits |= bit;
}

/* A sample of a frame with its emphasis, less a mean, 15 fraction bits. */
EDGEC_INLINE int32_t edgec_emphasized(const edgec_s16_t *x, const edgec_frame_t *frame, int32_t n,
                                      int32_t within, int32_t mean) {
    const int32_t earlier = (within != 0) ? edgec_max_s32(n - 1, 0) : n;
    return x[n + frame->before] * 32768 - frame->emphasis * x[earlier] - mean;
}

/* The mean of a frame x, as its emphasis leaves it, 15 fraction bits, rounded. */
EDGEC_SEPARATE int32_t edgec_frame_mean(const edgec_s16_t *x, const edgec_frame_t *frame) {
    const int32_t left = 32768 - frame->emphasis;
    int32_t sum = 0;
    for (int32_t n = 0; n < frame->width; n++) {
        sum += x[n + frame->before];
    }
    /* Nothing is below 0 with 2^15 more a sample, which are left * 2^15 in the quotient. */
    const uint64_t all = (uint64_t)((int64_t)sum + (int64_t)frame->width * 32768);
    const uint32_t width = (uint32_t)frame->width;
    const uint64_t mean = (2U * (uint64_t)left * all + width) / (2U * width);
    return (int32_t)((int64_t)mean - (int64_t)left * 32768);
}

EDGEC_INLINE int32_t edgec_scaled(const edgec_s16_t *x, edgec_s32_t *z, const edgec_frame_t *frame,
                                  int32_t within, int32_t mean) {
    uint32_t all = 0U;
    for (int32_t n = 0; n < frame->width; n++) {
        const int32_t e = edgec_emphasized(x, frame, n, within, mean);
        const uint32_t size = (e < 0) ? 0U - (uint32_t)e : (uint32_t)e;
        all |= size;
    }
    const int32_t up = (all == 0U) ? 0 : edgec_min_s32(29 - edgec_bit_length(all), 14);
    for (int32_t i = 2 * edgec_numbers(frame) - 1; i >= 0; i--) {
        z[i] = 0;
    }
    const int32_t later = ((frame->size & 1) == 0) ? 1 : 0;
    edgec_places_t places;
    edgec_first_place(&places, frame);
    const edgec_s16_t *const window = frame->window;
    const int32_t width = frame->width;
    for (int32_t n = 0; n < width; n++) {
        /* The same as a product that is shifted by 15 - up; up is -2 at least. */
        const int32_t weight = window[n] * (INT32_C(1) << (up + 2));
        const int64_t product = (int64_t)edgec_emphasized(x, frame, n, within, mean) * weight;
        z[2 * (places.of_odd + places.of_bits) + (n & later)] = (int32_t)edgec_rshr64(product, 17);
        if ((n & later) == later) {
            edgec_next_place(&places, frame);
        }
    }
    return up;
}

/* Window and scale of a frame x, into z in the order of the transform's places; the bits that it
 * was scaled up by. */
EDGEC_SEPARATE int32_t edgec_scaled_frame(const edgec_s16_t *x, edgec_s32_t *z,
                                          const edgec_frame_t *frame) {
    return edgec_scaled(x, z, frame, 0, 0);
}

/* The same of a frame by itself: less its mean; with `within` its first sample has itself before
 * it. */
EDGEC_SEPARATE int32_t edgec_scaled_alone(const edgec_s16_t *x, edgec_s32_t *z,
                                          const edgec_frame_t *frame, int32_t within,
                                          int32_t mean) {
    return edgec_scaled(x, z, frame, within, mean);
}

/* Two numbers: parts of a complex number, or a cosine and a sine. */
typedef struct edgec_complex {
    int32_t re;
    int32_t im;
} edgec_complex_t;

/* Cosine and sine of a turn's part place / (4 quarter), at most half of it. */
EDGEC_INLINE edgec_complex_t edgec_wave(const edgec_s32_t *sines, int32_t quarter, int32_t place) {
    if (place <= quarter) {
        return (edgec_complex_t){sines[quarter - place], sines[place]};
    }
    return (edgec_complex_t){-sines[place - quarter], sines[2 * quarter - place]};
}

/* The same of all of it. */
EDGEC_INLINE edgec_complex_t edgec_whole_wave(const edgec_s32_t *sines, int32_t quarter,
                                              int32_t place) {
    if (place <= 2 * quarter) {
        return edgec_wave(sines, quarter, place);
    }
    const edgec_complex_t back = edgec_wave(sines, quarter, 4 * quarter - place);
    return (edgec_complex_t){back.re, -back.im};
}

/* The product with cosine - j sine, without `bits` fraction bits. */
EDGEC_INLINE edgec_complex_t edgec_turned(int32_t re, int32_t im, edgec_complex_t wave,
                                          int32_t bits) {
    const int64_t real = (int64_t)re * wave.re + (int64_t)im * wave.im;
    const int64_t imaginary = (int64_t)im * wave.re - (int64_t)re * wave.im;
    return (edgec_complex_t){(int32_t)edgec_rshr64(real, bits),
                             (int32_t)edgec_rshr64(imaginary, bits)};
}

/* A stage of radix 2: parts of `size` numbers are joined two by two. */
EDGEC_SEPARATE void edgec_stage_of_pairs(edgec_s32_t *z, const edgec_frame_t *frame, int32_t size) {
    const edgec_s32_t *const sines = frame->sines;
    const int32_t quarter = frame->quarter;
    const int32_t end = 2 * edgec_numbers(frame);
    const int32_t step = 2 * quarter / size;
    int32_t place = 0;
    for (int32_t j = 0; j < size; j++) {
        const edgec_complex_t wave = edgec_wave(sines, quarter, place);
        place += step;
        for (int32_t i = 2 * j; i < end; i += 4 * size) {
            edgec_s32_t *const a = z + i;
            edgec_s32_t *const b = a + 2 * size;
            const edgec_complex_t t = edgec_turned(b[0], b[1], wave, 30);
            b[0] = (a[0] - t.re + 1) >> 1;
            b[1] = (a[1] - t.im + 1) >> 1;
            a[0] = (a[0] + t.re + 1) >> 1;
            a[1] = (a[1] + t.im + 1) >> 1;
        }
    }
}

/* Numbers of an odd radix r: one at each of r places that lie `apart`.  `turns` are the waves of
 * numbers 1 to r - 1, `roots` those of the multiples of a turn's r-th part. */
EDGEC_SEPARATE void edgec_odd_butterfly(edgec_s32_t *a, int32_t apart, int32_t radix,
                                        const edgec_complex_t *turns,
                                        const edgec_complex_t *roots) {
    edgec_complex_t sums[EDGEC_MOST_RADIX / 2 + 1];
    edgec_complex_t less[EDGEC_MOST_RADIX / 2 + 1];
    const int32_t half = radix / 2;
    const int32_t down = edgec_bit_length((uint32_t)radix - 1U);
    const int32_t re = (int32_t)edgec_rshr64(a[0], down);
    const int32_t im = (int32_t)edgec_rshr64(a[1], down);
    a[0] = re;
    a[1] = im;
    for (int32_t q = 1; q <= half; q++) {
        const edgec_s32_t *const first = a + q * apart;
        const edgec_s32_t *const last = a + (radix - q) * apart;
        const edgec_complex_t u = edgec_turned(first[0], first[1], turns[q], 30 + down);
        const edgec_complex_t v = edgec_turned(last[0], last[1], turns[radix - q], 30 + down);
        sums[q] = (edgec_complex_t){u.re + v.re, u.im + v.im};
        less[q] = (edgec_complex_t){u.re - v.re, u.im - v.im};
        a[0] += sums[q].re;
        a[1] += sums[q].im;
    }
    for (int32_t p = 1; p <= half; p++) {
        int64_t m_re = 0;
        int64_t m_im = 0;
        int64_t e_re = 0;
        int64_t e_im = 0;
        int32_t index = 0;
        for (int32_t q = 1; q <= half; q++) {
            index += p;
            index -= (index >= radix) ? radix : 0;
            const edgec_complex_t root = roots[index];
            m_re += (int64_t)sums[q].re * root.re;
            m_im += (int64_t)sums[q].im * root.re;
            e_re += (int64_t)less[q].re * root.im;
            e_im += (int64_t)less[q].im * root.im;
        }
        const int32_t middle_re = re + (int32_t)edgec_rshr64(m_re, 30);
        const int32_t middle_im = im + (int32_t)edgec_rshr64(m_im, 30);
        const int32_t apart_re = (int32_t)edgec_rshr64(e_re, 30);
        const int32_t apart_im = (int32_t)edgec_rshr64(e_im, 30);
        edgec_s32_t *const first = a + p * apart;
        edgec_s32_t *const last = a + (radix - p) * apart;
        first[0] = middle_re + apart_im;
        first[1] = middle_im - apart_re;
        last[0] = middle_re - apart_im;
        last[1] = middle_im + apart_re;
    }
}

/* A stage of an odd radix: parts of `size` numbers are joined. */
EDGEC_SEPARATE void edgec_odd_stage(edgec_s32_t *z, const edgec_frame_t *frame, int32_t size,
                                    int32_t radix) {
    edgec_complex_t turns[EDGEC_MOST_RADIX];
    edgec_complex_t roots[EDGEC_MOST_RADIX];
    const int32_t end = 2 * edgec_numbers(frame);
    const int32_t part = 4 * frame->quarter / radix;
    const int32_t step = part / size;
    for (int32_t q = 0; q < radix; q++) {
        roots[q] = edgec_whole_wave(frame->sines, frame->quarter, q * part);
    }
    for (int32_t j = 0; j < size; j++) {
        for (int32_t q = 1; q < radix; q++) {
            turns[q] = edgec_whole_wave(frame->sines, frame->quarter, j * q * step);
        }
        for (int32_t i = 2 * j; i < end; i += 2 * size * radix) {
            edgec_odd_butterfly(z + i, 2 * size, radix, turns, roots);
        }
    }
}

/* The DFT of complex numbers z in their places, in the same memory. */
EDGEC_SEPARATE void edgec_transformed(edgec_s32_t *z, const edgec_frame_t *frame) {
    int32_t size = 1;
    for (int32_t stage = 0; stage < frame->stages; stage++) {
        const int32_t radix = frame->radix[stage];
        if (radix == 2) {
            edgec_stage_of_pairs(z, frame, size);
        } else {
            edgec_odd_stage(z, frame, size, radix);
        }
        size *= radix;
    }
}

/* The floor of the square root, bit by bit. */
EDGEC_SEPARATE uint32_t edgec_root_u64(uint64_t x) {
    if ((x >> 32) == 0U) {
        return edgec_root_u32((uint32_t)x);
    }
    uint64_t root = 0U;
    uint64_t rest = x;
    for (uint64_t bit = UINT64_C(1) << 62; bit != 0U; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint32_t)root;
}

/* Store a number for filters to weigh, its bin's power or magnitude, in the place of a complex one.
 */
EDGEC_INLINE void edgec_store_bin(edgec_s32_t *z, int32_t k, int32_t re, int32_t im,
                                  int32_t magnitude) {
    const uint64_t power = (uint64_t)((int64_t)re * re) + (uint64_t)((int64_t)im * im);
    const uint64_t bin = (magnitude != 0) ? edgec_root_u64(power) : power >> 14;
    z[2 * k] = (int32_t)(uint32_t)bin;
    z[2 * k + 1] = (int32_t)(bin >> 32);
}

/* Load the number of a bin that filters weigh. */
EDGEC_INLINE uint64_t edgec_bin(const edgec_s32_t *z, int32_t k) {
    return ((uint64_t)(uint32_t)z[2 * k + 1] << 32) | (uint32_t)z[2 * k];
}

/* From the DFT z to the size / 2 + 1 bins of the real numbers, in its place. */
EDGEC_SEPARATE void edgec_spectrum(edgec_s32_t *z, const edgec_frame_t *frame, int32_t magnitude) {
    const edgec_s32_t *const sines = frame->sines;
    const int32_t quarter = frame->quarter;
    const int32_t half = frame->size / 2;
    if ((frame->size & 1) != 0) {
        for (int32_t k = 0; k <= half; k++) {
            edgec_store_bin(z, k, z[2 * k], z[2 * k + 1], magnitude);
        }
        return;
    }
    const int32_t finer = ((frame->size & 3) == 0) ? 1 : 2;
    for (int32_t k = half / 2; k > 0; k--) {
        const edgec_s32_t *const a = z + 2 * k;
        const edgec_s32_t *const b = z + 2 * (half - k);
        const int32_t re = (a[0] + b[0] + 1) >> 1;
        const int32_t im = (a[1] - b[1] + 1) >> 1;
        const edgec_complex_t wave = {sines[quarter - k * finer], sines[k * finer]};
        const edgec_complex_t t =
            edgec_turned((a[1] + b[1] + 1) >> 1, (b[0] - a[0] + 1) >> 1, wave, 30);
        edgec_store_bin(z, k, re + t.re, im + t.im, magnitude);
        edgec_store_bin(z, half - k, re - t.re, im - t.im, magnitude);
    }
    const int32_t re = z[0];
    const int32_t im = z[1];
    edgec_store_bin(z, 0, re + im, 0, magnitude);
    edgec_store_bin(z, half, re - im, 0, magnitude);
}

/* The logarithm to base 2 of x >= 1 with 16 fraction bits, of its first 32 bits. */
EDGEC_INLINE int32_t edgec_log2_u64(uint64_t x) {
    const int32_t extra = edgec_bit_length((uint32_t)(x >> 32));
    return edgec_log2_q16((uint32_t)(x >> extra)) + extra * 65536;
}

#ifdef __cplusplus
}
#endif

#endif
