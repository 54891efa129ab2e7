/* 4 biquads, 20 samples of 3 axes. */
EDGEC_SEPARATE void biquad_s8_0(const edgec_s16_t *x, const edgec_s32_t *state, const edgec_s32_t *coefficients, int16_t *y, int32_t *after)
{
    enum { TURNS = 20, AXES = 3, SECTIONS = 4, NUMBERS = 14 };
    for (int32_t i = 0; i < AXES * NUMBERS; i++) {
        after[i] = state[i];
    }
    for (int32_t i = 0; i < TURNS; i++) {
        for (int32_t axis = 0; axis < AXES; axis++) {
            *y++ = (int16_t)edgec_biquads(*x++, after + axis * NUMBERS, coefficients, SECTIONS);
        }
    }
}
