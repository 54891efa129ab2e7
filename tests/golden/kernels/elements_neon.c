/* Chain to int16, 60 elements: table look-up, product, sum. */
static void chain3_add_s16_neon_0(const int8_t *x0, const edgec_s16_t *x1, const int8_t *table0, edgec_s16_t *y, const edgec_mul_params_t *params0, const edgec_add_params_t *params1)
{
    const edgec_mul_params_t p0 = *params0;
    const edgec_add_params_t p1 = *params1;
    const edgec_neon_table_t whole0 = edgec_neon_table(table0);
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 3; i0++) {
        const int8_t *const from0 = x0 + i0 * 20;
        const int32_t all1 = x1[i0];
        int32_t i = 0;
        for (; i <= 20 - 8; i += 8) {
            const int16x8_t e0 = edgec_neon_load8_s8(from0 + i);
            const int16x8_t e1 = vdupq_n_s16((int16_t)all1);
            const int16x8_t v0 = edgec_eight_entry(e0, &whole0);
            const int16x8_t v1 = edgec_eight_mul_once(v0, e1, &p0, 32);
            const int16x8_t v2 = edgec_eight_add_once(v1, e0, &p1, 15);
            edgec_neon_store8_s16(y + n, v2);
            n += 8;
        }
        for (; i < 20; i++) {
            const int32_t e0 = from0[i];
            const int32_t e1 = all1;
            const int32_t v0 = edgec_entry(e0, table0);
            const int32_t v1 = edgec_mul_once(v0, e1, &p0, 32);
            y[n] = (edgec_s16_t)edgec_add_once(v1, e0, &p1, 15);
            n++;
        }
    }
}
