/* Pushes the samples of a file to a model with a front end, some at a time, and prints each result.
 * Its text follows the #includes and the macros NAME(function) and SIZE(macro). */
#include <stdio.h>
#include <stdlib.h>

static uint64_t arena[16384];
static uint64_t state[16384];

int main(int count, char **words) {
    FILE *const file = count == 3 ? fopen(words[1], "rb") : NULL;
    const uint32_t most = count == 3 ? (uint32_t)strtoul(words[2], NULL, 10) : 0U;
    static int16_t samples[65536];
    edgec_context_t context;
    if (file == NULL || NAME(push_samples)(NULL, samples, 1U) != EDGEC_ERROR_NULL) {
        return 1;
    }
    if (NAME(init)(&context, arena, sizeof arena, state, sizeof state) != EDGEC_OK) {
        return 2;
    }
    for (size_t found; (found = fread(samples, 2, most, file)) > 0U;) {
        const edgec_status_t status = NAME(push_samples)(&context, samples, (uint32_t)found);
        if (status == EDGEC_OK) {
            const int8_t *const codes = (const int8_t *)NAME(output)(&context, 0);
            for (uint32_t i = 0; i < SIZE(OUTPUT_0_ELEMENTS); i++) {
                printf("%d ", codes[i]);
            }
            printf("\n");
        } else if (status != EDGEC_NOT_YET) {
            return 3;
        }
    }
    fclose(file);
    return 0;
}
