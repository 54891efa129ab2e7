/* entry of int8 to int8, 100 elements. */
static void entry_s8_0(const int8_t *a, const int8_t *table, int8_t *y)
{
    int32_t n = 0;
    for (int32_t i0 = 0; i0 < 100; i0++) {
        y[n] = (int8_t)edgec_entry(a[i0], table);
        n++;
    }
}
