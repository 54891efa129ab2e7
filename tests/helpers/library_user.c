/* A program of somebody who uses generated libraries: several models, one arena in turn.  Its text
 * follows the #includes and the macros MODELS, FIRST and FIRST_MACRO (see library_use.py).  It is C
 * and C++.
 */
#include <stdio.h>

#define ARENA_WORDS 8192

static uint64_t arena[ARENA_WORDS];

static void fill(void *tensor, uint32_t bytes) {
    int8_t *const codes = (int8_t *)tensor;
    for (uint32_t i = 0; i < bytes; ++i) {
        codes[i] = (int8_t)((int)(i * 37U % 256U) - 128);
    }
}

static void print(const char *name, const void *tensor, uint32_t bytes) {
    const int8_t *const codes = (const int8_t *)tensor;
    printf("%s:", name);
    for (uint32_t i = 0; i < bytes; ++i) {
        printf(" %d", codes[i]);
    }
    printf("\n");
}

/* Any model, through its description. */
static int run_any(const edgec_model_t *model) {
    edgec_context_t context;
    if (model->init(&context, arena, (uint32_t)sizeof arena) != EDGEC_OK) {
        return 1;
    }
    fill(context.arena + model->inputs[0].offset, model->inputs[0].bytes);
    if (model->run(&context) != EDGEC_OK) {
        return 2;
    }
    print(model->name, context.arena + model->outputs[0].offset, model->outputs[0].bytes);
    return 0;
}

/* One model, through its own functions. */
static int run_first(void) {
    edgec_context_t context;
    if (FIRST(init)(&context, arena, FIRST_MACRO(ARENA_BYTES)) != EDGEC_OK) {
        return 3;
    }
    fill(FIRST(input)(&context, 0), FIRST_MACRO(INPUT_0_BYTES));
    if (FIRST(run)(&context) != EDGEC_OK) {
        return 4;
    }
    print(FIRST(model).name, FIRST(output)(&context, 0), FIRST_MACRO(OUTPUT_0_BYTES));
    return 0;
}

int main(void) {
    const edgec_model_t *const models[] = {MODELS};
    for (int round = 0; round < 2; ++round) {
        for (unsigned i = 0; i < sizeof models / sizeof models[0]; ++i) {
            const int status = run_any(models[i]);
            if (status != 0) {
                return status;
            }
        }
    }
    return run_first();
}
