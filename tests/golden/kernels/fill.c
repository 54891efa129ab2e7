/* 40 bytes that are all the same. */
static void fill_s8_0(int8_t *y)
{
    memset(y, 253, 40U);
}
