#include "console.h"

#include "port.h"
#include "protocol.h"

PORT_ARENA static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t app_arena[EDGEC_APP_ARENA_SIZE];

#ifdef EDGEC_APP_STATE_SIZE
PORT_ARENA static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t app_state[EDGEC_APP_STATE_SIZE];
#endif

static const edgec_model_t *const app_models[] = {EDGEC_APP_MODELS};

static const protocol_config_t config = {
    .version = EDGEC_APP_VERSION,
    .board = EDGEC_APP_BOARD,
    .models = app_models,
    .num_models = sizeof app_models / sizeof app_models[0],
    .arena = app_arena,
    .arena_bytes = sizeof app_arena,
#ifdef EDGEC_APP_STATE_SIZE
    .state = app_state,
    .state_bytes = sizeof app_state,
#endif
};

static protocol_t protocol;

bool console_begin(void) {
    return protocol_begin(&protocol, &config);
}

void console_receive(char character) {
    protocol_receive(&protocol, character);
}

bool console_is_idle(void) {
    return protocol_is_idle(&protocol);
}

uint8_t *console_borrow_arena(void) {
    protocol_forget(&protocol);
    return app_arena;
}
