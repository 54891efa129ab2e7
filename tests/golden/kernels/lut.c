/* Table look-up, 100 elements. */
static void lut_s8_0(const int8_t *x, const int8_t *table, int8_t *y)
{
    for (int32_t i = 0; i < 100; i++) {
        y[i] = table[x[i] + 128];
    }
}
