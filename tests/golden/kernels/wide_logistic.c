/* Logistic function of 100 int16 elements. */
static void wide_sigmoid_s8_0(const int16_t *x, const uint16_t *table, int16_t *y)
{
    for (int32_t i = 0; i < 100; i++) {
        y[i] = edgec_wide_logistic(table, edgec_rshr32(x[i] * 20132, 12));
    }
}
