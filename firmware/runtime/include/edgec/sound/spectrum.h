/* The spectrum of a frame of sound in integers, as ir/qops/log_mel.py defines it. */
#ifndef EDGEC_SOUND_SPECTRUM_H
#define EDGEC_SOUND_SPECTRUM_H

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/rescale16.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A frame: `width` samples after `before` others, with its window, in a DFT of `size` points whose
 * quarter of a sine is `sines`. */
typedef struct edgec_frame {
    const edgec_s16_t *window;
    const edgec_s32_t *sines;
    int32_t before;
    int32_t width;
    int32_t size;
    int32_t emphasis;
} edgec_frame_t;

/* A sample of a frame with its emphasis, 15 fraction bits. */
EDGEC_INLINE int32_t edgec_emphasized(const edgec_s16_t *x, const edgec_frame_t *frame, int32_t n) {
    return x[n + frame->before] * 32768 - frame->emphasis * x[n];
}

/* Window and scale of a frame x, into v [size]; the bits that it was scaled up by. */
EDGEC_SEPARATE int32_t edgec_scaled_frame(const edgec_s16_t *x, edgec_s32_t *v,
                                          const edgec_frame_t *frame) {
    uint32_t all = 0U;
    for (int32_t n = 0; n < frame->width; n++) {
        const int32_t e = edgec_emphasized(x, frame, n);
        const uint32_t size = (e < 0) ? 0U - (uint32_t)e : (uint32_t)e;
        all |= size;
    }
    const int32_t up = (all == 0U) ? 0 : edgec_min_s32(29 - edgec_bit_length(all), 14);
    for (int32_t n = 0; n < frame->width; n++) {
        const int64_t product = (int64_t)edgec_emphasized(x, frame, n) * frame->window[n];
        v[n] = (int32_t)edgec_rshr64(product, 15 - up);
    }
    for (int32_t n = frame->width; n < frame->size; n++) {
        v[n] = 0;
    }
    return up;
}

/* Two numbers: parts of a complex number, or a cosine and a sine. */
typedef struct edgec_complex {
    int32_t re;
    int32_t im;
} edgec_complex_t;

/* Cosine and sine of 2 pi index / size, index at most size / 2. */
EDGEC_INLINE edgec_complex_t edgec_wave(const edgec_frame_t *frame, int32_t index) {
    const int32_t quarter = frame->size / 4;
    const edgec_s32_t *const sines = frame->sines;
    if (index <= quarter) {
        return (edgec_complex_t){sines[quarter - index], sines[index]};
    }
    return (edgec_complex_t){-sines[index - quarter], sines[2 * quarter - index]};
}

/* The product with cosine - j sine. */
EDGEC_INLINE edgec_complex_t edgec_turned(int32_t re, int32_t im, edgec_complex_t wave) {
    const int64_t real = (int64_t)re * wave.re + (int64_t)im * wave.im;
    const int64_t imaginary = (int64_t)im * wave.re - (int64_t)re * wave.im;
    return (edgec_complex_t){(int32_t)edgec_rshr64(real, 30), (int32_t)edgec_rshr64(imaginary, 30)};
}

/* Exchange the complex numbers z [half] whose positions are each other's with their bits in
 * reverse. */
EDGEC_SEPARATE void edgec_reversed_bits(edgec_s32_t *z, int32_t half) {
    int32_t other = 0;
    for (int32_t i = 0; i < half; i++) {
        if (i < other) {
            for (int32_t part = 0; part < 2; part++) {
                const int32_t kept = z[2 * i + part];
                z[2 * i + part] = z[2 * other + part];
                z[2 * other + part] = kept;
            }
        }
        int32_t bit = half >> 1;
        while ((other & bit) != 0) {
            other ^= bit;
            bit >>= 1;
        }
        other |= bit;
    }
}

/* The DFT of complex numbers z [size / 2] in their place, divided by their number. */
EDGEC_SEPARATE void edgec_transformed(edgec_s32_t *z, const edgec_frame_t *frame) {
    const int32_t half = frame->size / 2;
    edgec_reversed_bits(z, half);
    for (int32_t size = 1; size < half; size *= 2) {
        for (int32_t j = 0; j < size; j++) {
            const edgec_complex_t wave = edgec_wave(frame, j * (half / size));
            for (int32_t i = 2 * j; i < 2 * half; i += 4 * size) {
                edgec_s32_t *const a = z + i;
                edgec_s32_t *const b = a + 2 * size;
                const edgec_complex_t t = edgec_turned(b[0], b[1], wave);
                b[0] = (a[0] - t.re + 1) >> 1;
                b[1] = (a[1] - t.im + 1) >> 1;
                a[0] = (a[0] + t.re + 1) >> 1;
                a[1] = (a[1] + t.im + 1) >> 1;
            }
        }
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

/* From the DFT z [size / 2] of pairs of real numbers to the size / 2 + 1 bins of these, in its
 * place. */
EDGEC_SEPARATE void edgec_spectrum(edgec_s32_t *z, const edgec_frame_t *frame, int32_t magnitude) {
    const int32_t half = frame->size / 2;
    for (int32_t k = half / 2; k > 0; k--) {
        const edgec_s32_t *const a = z + 2 * k;
        const edgec_s32_t *const b = z + 2 * (half - k);
        const int32_t re = (a[0] + b[0] + 1) >> 1;
        const int32_t im = (a[1] - b[1] + 1) >> 1;
        const edgec_complex_t t =
            edgec_turned((a[1] + b[1] + 1) >> 1, (b[0] - a[0] + 1) >> 1, edgec_wave(frame, k));
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
