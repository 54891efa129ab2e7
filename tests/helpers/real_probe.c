/* Reads words from standard input, one a line, and prints the bits of the float that each is. */
#include <stdio.h>
#include <string.h>

#include "text.h"

/* text_real.c writes numbers, too, which is not called here. */
void text_put(const char *text) {
    (void)text;
}

void text_put_uint(uint32_t value) {
    (void)value;
}

int main(void) {
    char line[128];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        float value = 0.0F;
        if (text_parse_real(line, &value)) {
            uint32_t bits = 0;
            memcpy(&bits, &value, sizeof bits);
            (void)printf("%08lx\n", (unsigned long)bits);
        } else {
            (void)printf("none\n");
        }
    }
    return 0;
}
