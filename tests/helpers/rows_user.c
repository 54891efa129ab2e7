/* Hands an image over by rows, in several ways, and compares the outputs with those of a run. */
#include <stdio.h>
#include <string.h>

#include "edgec_photographs.h"

#define ROWS EDGEC_PHOTOGRAPHS_IMAGE_ROWS
#define ROW EDGEC_PHOTOGRAPHS_ROW_BYTES

EDGEC_ALIGNED static uint8_t arena[EDGEC_PHOTOGRAPHS_ARENA_BYTES];
static int8_t image[ROWS * ROW];
static edgec_context_t context;

static int check(int line, int holds) {
    if (!holds) {
        printf("line %d\n", line);
    }
    return holds ? 0 : 1;
}
#define CHECK(holds) wrong += check(__LINE__, (holds))

/* Rows `step` at a time, the last ones alone. */
static edgec_status_t by_steps(uint32_t step) {
    edgec_status_t status = EDGEC_NOT_YET;
    for (uint32_t row = 0; row < ROWS && status == EDGEC_NOT_YET; row += step) {
        const uint32_t count = step < ROWS - row ? step : ROWS - row;
        status = edgec_photographs_push_rows(&context, image + row * ROW, count);
    }
    return status;
}

int main(void) {
    int wrong = 0;
    for (uint32_t i = 0; i < sizeof image; i++) {
        image[i] = (int8_t)(i * 7U % 251U);
    }
    CHECK(edgec_photographs_push_rows(NULL, image, 1) == EDGEC_ERROR_NULL);
    CHECK(edgec_photographs_push_rows(&context, image, 1) == EDGEC_ERROR_NOT_READY);
    CHECK(edgec_photographs_reset(&context) == EDGEC_ERROR_NOT_READY);
    CHECK(edgec_photographs_init(&context, arena, sizeof arena) == EDGEC_OK);
    CHECK(edgec_photographs_push_rows(&context, NULL, 1) == EDGEC_ERROR_NULL);
    CHECK(edgec_photographs_push_rows(&context, image, ROWS + 1U) == EDGEC_ERROR_LENGTH);
    CHECK(edgec_photographs_push_rows(&context, image, 0) == EDGEC_NOT_YET);
    const void *found = edgec_photographs_output(&context, 0);
    int8_t wanted[EDGEC_PHOTOGRAPHS_OUTPUT_0_BYTES];
    for (uint32_t run = 0; run < edgec_photographs_model.image_runs; run++) {
        const size_t bytes = EDGEC_PHOTOGRAPHS_INPUT_0_BYTES;
        memcpy(edgec_photographs_input(&context, 0), image + run * bytes, bytes);
        const edgec_status_t status = edgec_photographs_run(&context);
        const int last = run + 1U == edgec_photographs_model.image_runs;
        CHECK(status == (last ? EDGEC_OK : EDGEC_NOT_YET));
    }
    memcpy(wanted, found, sizeof wanted);
    static const uint32_t steps[] = {1, 2, 3, 5, ROWS - 1U, ROWS};
    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        CHECK(by_steps(steps[i]) == EDGEC_OK);
        CHECK(memcmp(found, wanted, sizeof wanted) == 0);
    }
    /* An image that stays incomplete, and a run within the rows of one. */
    CHECK(edgec_photographs_push_rows(&context, image + 3 * ROW, 5) == EDGEC_NOT_YET);
    CHECK(edgec_photographs_push_rows(&context, image, ROWS - 4U) == EDGEC_ERROR_LENGTH);
    if (EDGEC_PHOTOGRAPHS_RUN_ROWS == 2U) {
        CHECK(edgec_photographs_run(&context) == EDGEC_ERROR_LENGTH);
    }
    CHECK(edgec_photographs_reset(&context) == EDGEC_OK);
    CHECK(by_steps(1) == EDGEC_OK);
    CHECK(memcmp(found, wanted, sizeof wanted) == 0);
    for (size_t i = 0; i < sizeof wanted; i++) {
        printf("%d ", wanted[i]);
    }
    return wrong;
}
