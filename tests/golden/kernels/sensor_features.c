/* 9 statistics and 3 bands of 100 samples of 3 axes. */
EDGEC_SEPARATE void sensor_features_s8_0(const edgec_s16_t *x, const edgec_s32_t *ends, const edgec_s16_t *window, const edgec_s32_t *sines, const edgec_s16_t *bins, int8_t *y, int8_t *scratch)
{
    enum { WINDOWS = 2, HOP = 50, AXES = 3, WIDTH = 100 };
    static const uint8_t radix[] = {2, 5, 5};
    const edgec_frame_t frame = {window, sines, radix, 3, 1, 0, 100, 100, 25, 0};
    edgec_s32_t *const z = (void *)(scratch + 200);
    edgec_s16_t *const d = (void *)scratch;
    for (int32_t t = 0; t < WINDOWS; t++) {
        const edgec_s32_t *end = ends;
        for (int32_t axis = 0; axis < AXES; axis++) {
            edgec_window_t w = {.x = x + t * HOP * AXES + axis, .apart = AXES, .width = WIDTH};
            edgec_sums_of(&w);
            edgec_deviations(&w, d);
            edgec_moments(&w, d);
            *y++ = (int8_t)edgec_feature_code(w.total, end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(edgec_std_of(&w, 9), end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(edgec_rms_of(&w, 9), end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(w.least, end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(w.greatest, end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(edgec_skewness(&w), end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(edgec_kurtosis(&w), end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(edgec_crossings(&w, 0), end, -128, 127);
            end += 4;
            *y++ = (int8_t)edgec_feature_code(edgec_crossings(&w, w.total), end, -128, 127);
            end += 4;
            /* 40 bins of the spectrum in all bands. */
            const int32_t up = edgec_scaled_frame(d, z, &frame);
            edgec_transformed(z, &frame);
            edgec_spectrum(z, &frame, 0);
            for (int32_t b = 0; b < 3; b++) {
                const int32_t log = edgec_band_of(z, bins[2 * b], bins[2 * b + 1], (w.shift - up) * 131072, -2000000);
                *y++ = (int8_t)edgec_feature_code(log, end, -128, 127);
                end += 4;
            }
        }
    }
}
