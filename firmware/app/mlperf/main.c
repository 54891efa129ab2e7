/* The firmware's main program for the runner of MLPerf Tiny: see runner.h.
 *
 * app_config.h comes with the project (app/console/main.c lists what it defines); mlperf_config.h
 * as well, and says how the runner's numbers become codes. */
#include "app_config.h"
#include "inference.h"
#include "port.h"
#include "runner.h"

PORT_ARENA static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t app_arena[EDGEC_APP_ARENA_SIZE];

static const edgec_model_t *const app_models[] = {EDGEC_APP_MODELS};

int main(void) {
    port_init();
    if (!inference_begin(app_models[0], app_arena, sizeof app_arena)) {
        return 1;
    }
    runner_begin(EDGEC_APP_BOARD);
    for (;;) {
        const int character = port_read_char();
        if (character < 0) {
            return 0; /* the end of input, which only a host has */
        }
        runner_receive((char)character);
    }
}
