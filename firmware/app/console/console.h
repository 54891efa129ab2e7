/* The models of app_config.h, served over the console: what a main program passes characters to.
 *
 * app_config.h comes with the project and defines
 *     EDGEC_APP_VERSION      version of edgec, a string
 *     EDGEC_APP_BOARD        name of the board, a string
 *     EDGEC_APP_MODELS       addresses of the models (edgec_model_t), separated by commas
 *     EDGEC_APP_ARENA_SIZE  the largest of their arenas
 *     EDGEC_APP_STATE_SIZE  the largest of their states, if one has any: each is reset when its
 *                            model is selected
 */
#ifndef EDGEC_APP_CONSOLE_H
#define EDGEC_APP_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "app_config.h"

/* Greet, and select the first model; false, with a message, when it cannot be used. */
bool console_begin(void);

/* Take one character off the line; protocol.h says what is answered. */
void console_receive(char character);

/* Whether the next character begins a request, so that it may as well begin something else. */
bool console_is_idle(void);

/* The memory that models run in, EDGEC_APP_ARENA_SIZE, for a run of the program's own, while the
 * console is idle.  What requests wrote into it is lost to them: they begin anew. */
uint8_t *console_borrow_arena(void);

#endif
