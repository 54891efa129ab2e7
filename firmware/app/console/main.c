/* The firmware's main program: serves the models of app_config.h over the console.
 *
 * app_config.h comes with the project and defines
 *     EDGEC_APP_VERSION      version of edgec, a string
 *     EDGEC_APP_BOARD        name of the board, a string
 *     EDGEC_APP_MODELS       addresses of the models (edgec_model_t), separated by commas
 *     EDGEC_APP_ARENA_BYTES  the largest of their arenas
 */
#include "app_config.h"
#include "port.h"
#include "protocol.h"

PORT_ARENA static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t arena[EDGEC_APP_ARENA_BYTES];

static const edgec_model_t *const models[] = {EDGEC_APP_MODELS};

static const protocol_config_t config = {
    .version = EDGEC_APP_VERSION,
    .board = EDGEC_APP_BOARD,
    .models = models,
    .num_models = sizeof models / sizeof models[0],
    .arena = arena,
    .arena_bytes = sizeof arena,
};

static protocol_t protocol;

int main(void) {
    port_init();
    if (!protocol_begin(&protocol, &config)) {
        return 1;
    }
    for (;;) {
        const int character = port_read_char();
        if (character < 0) {
            return 0; /* the end of input, which only a host has */
        }
        protocol_receive(&protocol, (char)character);
    }
}
