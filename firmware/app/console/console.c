#include "console.h"

#include "port.h"
#include "protocol.h"

PORT_ARENA static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t arena[EDGEC_APP_ARENA_SIZE];

#ifdef EDGEC_APP_STATE_SIZE
PORT_ARENA static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t state[EDGEC_APP_STATE_SIZE];
#endif

static const edgec_model_t *const models[] = {EDGEC_APP_MODELS};

static const protocol_config_t config = {
    .version = EDGEC_APP_VERSION,
    .board = EDGEC_APP_BOARD,
    .models = models,
    .num_models = sizeof models / sizeof models[0],
    .arena = arena,
    .arena_bytes = sizeof arena,
#ifdef EDGEC_APP_STATE_SIZE
    .state = state,
    .state_bytes = sizeof state,
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
    return arena;
}
