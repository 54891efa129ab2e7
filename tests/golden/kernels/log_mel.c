/* 40 mel energies of 400 samples, 512 points; filters have 500 weights in all. */
EDGEC_SEPARATE void log_mel_s8_0(const edgec_s16_t *x, const edgec_s16_t *window, const edgec_s32_t *sines, const edgec_s16_t *bank, const edgec_s16_t *bins, int16_t *y, int8_t *scratch)
{
    enum { FRAMES = 2, HOP = 160, FILTERS = 40, POWER = 2 };
    static const uint8_t radix[] = {2, 2, 2, 2, 2, 2, 2, 2};
    const edgec_frame_t frame = {window, sines, radix, 8, 8, 1, 400, 512, 128, 31744};
    const int64_t more = 1073741824;
    edgec_s32_t *const z = (void *)scratch;
    for (int32_t t = 0; t < FRAMES; t++) {
        const int32_t up = POWER * edgec_scaled_frame(x + t * HOP, z, &frame);
        edgec_transformed(z, &frame);
        edgec_spectrum(z, &frame, POWER == 1);
        const int32_t moved = up - (5);
        const int64_t least = moved < 0 ? more >> edgec_min_s32(-moved, 31) : more << moved;
        const edgec_s16_t *weight = bank;
        for (int32_t c = 0; c < FILTERS; c++) {
            uint64_t sum = (uint64_t)least;
            for (int32_t i = 0; i < bins[2 * c + 1]; i++) {
                sum += edgec_bin(z, bins[2 * c] + i) * (uint64_t)*weight++;
            }
            int64_t code = -100;
            if (sum != 0U) {
                const int32_t log = edgec_log2_u64(sum) - up * 65536 + (-2000000);
                code = edgec_rshr64((int64_t)log * 1073741824, 40);
            }
            const int64_t raised = code < -100 ? -100 : code;
            *y++ = (int16_t)(raised > 16000 ? 16000 : raised);
        }
    }
}
