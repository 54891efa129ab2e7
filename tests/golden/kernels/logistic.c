/* logistic of int16 to int16, 100 elements. */
static void logistic_s16_0(const edgec_s16_t *a, const uint16_t *table, edgec_s16_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (edgec_s16_t)edgec_logistic(a[i0], table, 20132, 12);
        n++;
    }
}
