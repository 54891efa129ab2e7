/* Reads float32 and float64 from standard input and says what numbers.c and text_real.c make of
 * them. */
#include <stdio.h>
#include <string.h>

#include "numbers.h"
#include "text.h"

void text_put(const char *text) {
    (void)fputs(text, stdout);
}

void text_put_uint(uint32_t value) {
    (void)printf("%lu", (unsigned long)value);
}

int main(void) {
    struct {
        double steps;
        float real;
        int32_t zero_point;
    } record;
    while (fread(&record, sizeof record, 1, stdin) == 1) {
        text_put_real(record.real);
        (void)printf(" %ld\n", (long)number_code(record.steps, record.zero_point, 127));
    }
    text_put_uint64(0);
    (void)printf(" ");
    text_put_uint64(18000000005U);
    return 0;
}
