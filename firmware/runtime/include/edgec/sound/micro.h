/* Features of sound as TensorFlow Lite Micro has them; ir/qops/micro_features.py defines them. */
#ifndef EDGEC_SOUND_MICRO_H
#define EDGEC_SOUND_MICRO_H

#include "edgec/sound/spectrum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points of the complex DFT, and powers of the root of unity that it uses. */
#define EDGEC_MICRO_HALF 256
#define EDGEC_MICRO_TURNS 192

/* A value of 16 bits; those above them are dropped. */
EDGEC_INLINE int32_t edgec_micro_16(int32_t x) {
    return (int16_t)(uint16_t)((uint32_t)x & 0xFFFFU);
}

/* A product's 16 bits from bit 15, rounded. */
EDGEC_INLINE int32_t edgec_micro_round15(int32_t x) {
    return edgec_micro_16((x + (1 << 14)) >> 15);
}

/* The place of a complex number whose four digits of base 4 come in reverse. */
EDGEC_INLINE int32_t edgec_micro_place(int32_t i) {
    return ((i & 3) << 6) | ((i & 12) << 2) | ((i >> 2) & 12) | (i >> 6);
}

/* Window and scale of a frame x, in the order of the DFT z; the bits that it was scaled up by. */
EDGEC_SEPARATE int32_t edgec_micro_frame(const edgec_s16_t *x, edgec_s16_t *z,
                                         const edgec_s16_t *window, int32_t width) {
    int32_t most = 0;
    for (int32_t n = 0; n < width; n++) {
        const int32_t v = (x[n] * window[n]) >> 12;
        most = edgec_max_s32(most, edgec_micro_16((v < 0) ? -v : v));
    }
    const int32_t up = 15 - edgec_bit_length((uint32_t)most);
    for (int32_t n = 0; n < 2 * EDGEC_MICRO_HALF; n++) {
        const int32_t v = (n < width) ? ((x[n] * window[n]) >> 12) * (1 << up) : 0;
        z[2 * edgec_micro_place(n >> 1) + (n & 1)] = (int16_t)edgec_micro_16(v);
    }
    return up;
}

/* The product of complex numbers, rounded. */
EDGEC_INLINE edgec_complex_t edgec_micro_times(edgec_complex_t a, const edgec_s16_t *wave) {
    return (edgec_complex_t){edgec_micro_round15(a.re * wave[0] - a.im * wave[1]),
                             edgec_micro_round15(a.re * wave[1] + a.im * wave[0])};
}

/* A complex number times a factor, rounded. */
EDGEC_INLINE edgec_complex_t edgec_micro_scaled(const edgec_s16_t *z, int32_t factor) {
    return (edgec_complex_t){edgec_micro_round15(z[0] * factor),
                             edgec_micro_round15(z[1] * factor)};
}

/* Store the sum of a and `sign` times b. */
EDGEC_INLINE void edgec_micro_store(edgec_s16_t *z, edgec_complex_t a, edgec_complex_t b,
                                    int32_t sign) {
    z[0] = (int16_t)edgec_micro_16(a.re + sign * b.re);
    z[1] = (int16_t)edgec_micro_16(a.im + sign * b.im);
}

/* The DFT of z [256] in its place, from numbers in the order of `edgec_micro_place`. */
EDGEC_SEPARATE void edgec_micro_transformed(edgec_s16_t *z, const edgec_s16_t *waves) {
    for (int32_t size = 1; size < EDGEC_MICRO_HALF; size *= 4) {
        const int32_t step = EDGEC_MICRO_HALF / 4 / size;
        for (int32_t j = 0; j < size; j++) {
            const edgec_s16_t *const wave = waves + 2 * j * step;
            for (int32_t i = j; i < EDGEC_MICRO_HALF; i += 4 * size) {
                edgec_s16_t *const at = z + 2 * i;
                const int32_t next = 2 * size;
                const edgec_complex_t a = edgec_micro_scaled(at, 8191);
                const edgec_complex_t b =
                    edgec_micro_times(edgec_micro_scaled(at + next, 8191), wave);
                const edgec_complex_t c = edgec_micro_times(edgec_micro_scaled(at + 2 * next, 8191),
                                                            waves + 4 * j * step);
                const edgec_complex_t d = edgec_micro_times(edgec_micro_scaled(at + 3 * next, 8191),
                                                            waves + 6 * j * step);
                const edgec_complex_t low = {a.re + c.re, a.im + c.im};
                const edgec_complex_t high = {a.re - c.re, a.im - c.im};
                const edgec_complex_t plus = {b.re + d.re, b.im + d.im};
                const edgec_complex_t turned = {b.im - d.im, d.re - b.re};
                edgec_micro_store(at, low, plus, 1);
                edgec_micro_store(at + next, high, turned, 1);
                edgec_micro_store(at + 2 * next, low, plus, -1);
                edgec_micro_store(at + 3 * next, high, turned, -1);
            }
        }
    }
}

/* Store the power of a bin, 32 bits, in the place of its number. */
EDGEC_INLINE void edgec_micro_store_power(edgec_s16_t *z, int32_t re, int32_t im) {
    const int32_t real = edgec_micro_16(re >> 1);
    const int32_t imaginary = edgec_micro_16(im >> 1);
    const uint32_t power = (uint32_t)(real * real) + (uint32_t)(imaginary * imaginary);
    z[0] = (int16_t)edgec_micro_16((int32_t)(power & 0xFFFFU));
    z[1] = (int16_t)edgec_micro_16((int32_t)(power >> 16));
}

/* From the DFT z of pairs of real numbers to the powers of bins 1 to 255, in its place. */
EDGEC_SEPARATE void edgec_micro_powers(edgec_s16_t *z, const edgec_s16_t *waves) {
    for (int32_t k = 1; k <= EDGEC_MICRO_HALF / 2; k++) {
        edgec_s16_t *const first = z + 2 * k;
        edgec_s16_t *const last = z + 2 * (EDGEC_MICRO_HALF - k);
        const edgec_complex_t a = edgec_micro_scaled(first, 16383);
        const edgec_complex_t b = {edgec_micro_round15(last[0] * 16383),
                                   edgec_micro_round15(edgec_micro_16(-last[1]) * 16383)};
        const edgec_complex_t sum = {edgec_micro_16(a.re + b.re), edgec_micro_16(a.im + b.im)};
        const edgec_complex_t gap = {edgec_micro_16(a.re - b.re), edgec_micro_16(a.im - b.im)};
        const edgec_complex_t t = edgec_micro_times(gap, waves + 2 * (EDGEC_MICRO_TURNS + k - 1));
        edgec_micro_store_power(first, sum.re + t.re, sum.im + t.im);
        edgec_micro_store_power(last, sum.re - t.re, t.im - sum.im);
    }
}

/* The amplitude of a filter: the root of its energy, rounded to the nearest. */
EDGEC_SEPARATE uint32_t edgec_micro_signal(const edgec_s16_t *z, const edgec_s16_t *weights,
                                           const edgec_s16_t *bins) {
    uint64_t energy = 0U;
    for (int32_t i = 0; i < bins[1]; i++) {
        const edgec_s16_t *const bin = z + 2 * (bins[0] + i);
        const uint32_t power = ((uint32_t)(uint16_t)bin[1] << 16) | (uint16_t)bin[0];
        energy += (uint64_t)power * (uint16_t)weights[i];
    }
    const uint32_t root = edgec_root_u64(energy);
    const uint32_t more = (energy - (uint64_t)root * root > root) ? 1U : 0U;
    return (root == 0xFFFFU && (energy >> 32) == 0U) ? root : root + more;
}

/* The gain for a noise. */
EDGEC_INLINE int32_t edgec_micro_gain(uint32_t noise, const edgec_s16_t *gains) {
    if (noise <= 2U) {
        return gains[noise];
    }
    const int32_t octave = edgec_bit_length(noise);
    const edgec_s16_t *const curve = gains + 4 * octave - 6;
    const uint32_t near = (octave < 11) ? noise << (11 - octave) : noise >> (octave - 11);
    const int32_t part = (int32_t)(near & 1023U);
    const int32_t slope = ((curve[2] * part) >> 5) + curve[1] * 32;
    return edgec_micro_16(((slope * part + (1 << 14)) >> 15) + curve[0]);
}

/* A signal above its noise, which it changes by its share, with its gain. */
EDGEC_SEPARATE uint32_t edgec_micro_gained(uint32_t signal, int32_t *noise,
                                           const edgec_s16_t *gains, uint32_t share) {
    const uint32_t fine = signal << 10;
    const uint64_t sum = (uint64_t)fine * share + (uint64_t)(uint32_t)*noise * (16384U - share);
    const uint32_t mean = (uint32_t)(sum >> 14);
    *noise = (int32_t)mean;
    const uint32_t above = (fine - ((mean < fine) ? mean : fine)) >> 10;
    const uint32_t least = (signal * 819U) >> 14;
    const uint32_t rest = (above > least) ? above : least;
    const uint32_t ratio =
        (uint32_t)(((uint64_t)rest * (uint32_t)edgec_micro_gain(mean, gains)) >> 6);
    return (ratio < 8192U) ? (ratio * ratio) >> 20 : (ratio >> 6) - 64U;
}

/* 64 times the natural logarithm; 0 for 0. */
EDGEC_SEPARATE int32_t edgec_micro_log(uint32_t x, const edgec_s16_t *logs) {
    if (x <= 1U) {
        return 0;
    }
    const int32_t octave = edgec_bit_length(x) - 1;
    const uint32_t above = x - (UINT32_C(1) << octave);
    const int32_t rest = (int32_t)((octave < 16) ? above << (16 - octave) : above >> (octave - 16));
    const edgec_s16_t *const line = logs + (rest >> 9);
    const int32_t between = ((line[1] - line[0]) * (rest & 511)) >> 16;
    const int32_t log = octave * 65536 + rest + line[0] + between;
    const int32_t natural = (int32_t)(((int64_t)log * 45426 + 32768) >> 16);
    return (natural * 64 + 32768) >> 16;
}

#ifdef __cplusplus
}
#endif

#endif
