/* The serial protocol of edgec firmware, for programs and for people at a terminal.
 *
 * A request is one line of words.  It is answered by lines of text, the last of which is
 * `ok CRC` or `error: WHAT`.  CRC is the CRC-32 of the reply's other lines, each with its line
 * feed and without its carriage return, as eight hexadecimal digits.  `help` lists the requests.
 *
 *     write 0 0 007f80ff        fill input 0 from byte 0; up to (`line` - 40) / 2 bytes a request
 *     frame 0 0 1024            the same with 1024 bytes as they are, after the line feed, then
 *                               their CRC-32, most significant byte first; up to `frame` bytes;
 *                               the request needs a checksum
 *     run                       compute; uses the inputs up: write them anew for the next run;
 *                               `ready=0`: early in a stream, and outputs mean nothing yet
 *     read 0                    show output 0 as hexadecimal bytes
 *     read 0 64 10              show 10 bytes of it, from byte 64
 *     trace                     like `run`, with the size and the CRC-32 of what each step wrote
 *     dump 3                    like `run`, with the bytes that step 3 wrote, in a loop each turn
 *     bench                     like `run`, with the cycles of each step
 *     reset                     begin a new stream, where the model keeps a state between runs
 *     bits 4                    from now on at most 4 bits of activations, where the model can
 *     length 20                 from now on runs of 20 tokens, where the model can; `info` tells
 *                               how long inputs and outputs are then
 *
 * A request may be protected by a checksum: `*CRC request`, where CRC is the CRC-32 of all that
 * follows the space after it.  Errors that begin with `error: line` mean that the line itself was
 * damaged, so that sending it again may help.  Empty lines are ignored and not answered: after
 * noise, a line feed and `ping WORD` bring both sides together again; after a frame whose bytes
 * were lost, as many line feeds as it still waits for.
 */
#ifndef EDGEC_APP_PROTOCOL_H
#define EDGEC_APP_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "edgec/edgec.h"
#include "frame.h"

#define PROTOCOL_VERSION 1U

/* Longest request, without its line end. */
#define PROTOCOL_LINE_BYTES 320U

/* Most bytes that follow a `frame` request, without their CRC. */
#define PROTOCOL_FRAME_BYTES 1024U

/* Most inputs a model may have; the build sets it where a model has more. */
#ifndef PROTOCOL_MAX_INPUTS
#define PROTOCOL_MAX_INPUTS 16U
#endif

/* The build defines PROTOCOL_STATE where a model keeps something from run to run, a state or rows
 * of an image: only then is there `reset`. */

/* Parts of the program; filled in by console.c. */
typedef struct protocol_config {
    const char *version; /* of edgec */
    const char *board;
    const edgec_model_t *const *models;
    uint32_t num_models;
    uint8_t *arena;
    uint32_t arena_bytes;
    uint8_t *state; /* NULL: no model has one */
    uint32_t state_bytes;
} protocol_config_t;

/* State of the conversation. */
typedef struct protocol {
    const protocol_config_t *config;
    const edgec_model_t *model; /* the selected one */
    edgec_context_t context;
    uint32_t written[PROTOCOL_MAX_INPUTS]; /* bytes of each input, from its start, that are there */
    uint32_t missing;        /* tokens of the longest run that the next runs do not have */
    frame_t frame;           /* what follows a `frame` request */
    const char *frame_error; /* said when it is over; NULL: none so far */
    uint32_t *frame_written; /* its input's entry of `written`, and what that will be */
    uint32_t frame_end;
    bool has_outputs;
    bool line_is_long;
    bool line_is_binary;
    uint32_t line_length;
    char line[PROTOCOL_LINE_BYTES + 1U];
} protocol_t;

/* Greet, and select the first model; false, with a message, when it cannot be used. */
bool protocol_begin(protocol_t *protocol, const protocol_config_t *config);

/* Take one character off the line; at a line end, do what the line asks. */
void protocol_receive(protocol_t *protocol, char character);

/* Whether the next character begins a request: no line and no frame is open. */
bool protocol_is_idle(const protocol_t *protocol);

/* Somebody else used the arena: inputs are to be written anew, and there are no outputs. */
void protocol_forget(protocol_t *protocol);

#endif
