/* 40 features of 480 samples as TensorFlow Lite Micro has them; filters have 480 weights in all. */
EDGEC_SEPARATE void micro_features_s8_0(const edgec_s16_t *x, const edgec_s32_t *noise, const edgec_s16_t *window, const edgec_s16_t *waves, const edgec_s16_t *bank, const edgec_s16_t *bins, const edgec_s16_t *gains, const edgec_s16_t *logs, int16_t *y, int32_t *after, int8_t *scratch)
{
    enum { FRAMES = 2, HOP = 160, FILTERS = 40, WIDTH = 480 };
    for (int32_t c = 0; c < FILTERS; c++) {
        after[c] = noise[c];
    }
    for (int32_t t = 0; t < FRAMES; t++) {
        const int32_t heard = after[0] >= 0;
        const edgec_s16_t *weights = bank;
        int32_t up = 0;
        if (heard) {
            up = edgec_micro_frame(x + t * HOP, (void *)scratch, window, WIDTH);
            edgec_micro_transformed((void *)scratch, waves);
            edgec_micro_powers((void *)scratch, waves);
        }
        for (int32_t c = 0; c < FILTERS; c++) {
            if (heard) {
                const uint32_t signal = edgec_micro_signal((const void *)scratch, weights, bins + 2 * c) >> up;
                weights += bins[2 * c + 1];
                const uint32_t shrunk = edgec_micro_gained(signal, after + c, gains, (c & 1) != 0 ? 983U : 409U);
                *y++ = (int16_t)edgec_micro_log(shrunk << 3, logs);
            } else {
                after[c] += 1;
                *y++ = 0;
            }
        }
    }
}
