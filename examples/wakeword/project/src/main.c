/* The main program of the firmware: edit it, it is yours.
 *
 * It listens: each result of the network goes to the serial line as a line `heard=`, which
 * `edgec watch` shows.  Everything that comes from there goes to edgec's
 * console, so that `edgec run`, `validate` and `profile` work with this firmware as well.
 *
 * There is no C library: text.h writes numbers, port.h is the board, and edgec_wakeword.h, the
 * header of the network, explains its functions.
 */
#include "console.h"
#include "edgec_wakeword.h"
#include "port.h"
#include "text.h"

/* Scores are codes of -128 to 127, 0 to 1. */
#define THRESHOLD 0
/* Results of half a second: a score that is high again this soon is about the same word. */
#define APART 15U

/* Memory of its own, so that the console's requests and what is heard do not mix. */
EDGEC_ALIGNED static uint8_t arena[EDGEC_WAKEWORD_ARENA_BYTES];
EDGEC_ALIGNED static uint8_t state[EDGEC_WAKEWORD_STATE_BYTES];
static edgec_context_t network;
static uint32_t results;
static uint32_t since = APART; /* results since the last high score */

/* The microphone, which is yours: take at most `most` new samples of 16 bits at 16 kHz, and return
 * how many there are.  It must not wait: a timer, or the DMA of an ADC or of I2S, collects samples
 * meanwhile.  This one hears nothing. */
static uint32_t read_microphone(int16_t *samples, uint32_t most) {
    (void)samples;
    (void)most;
    return 0;
}

/* What happens at the word is yours, too: a pin, say. */
static void act(void) {
}

static void decide(int8_t score) {
    if (score < THRESHOLD) {
        since += since < APART ? 1U : 0U;
    } else {
        if (since == APART) {
            act();
        }
        since = 0;
    }
    text_put("heard=");
    text_put_uint(results++);
    text_put(" ");
    text_put_int(score);
    text_end_line();
}

static void listen(void) {
    static int16_t samples[EDGEC_WAKEWORD_RUN_SAMPLES];
    const uint32_t count = read_microphone(samples, EDGEC_WAKEWORD_RUN_SAMPLES);
    if (count > 0U && edgec_wakeword_push_samples(&network, samples, count) == EDGEC_OK) {
        decide(((const int8_t *)edgec_wakeword_output(&network, 0))[0]);
    }
}

int main(void) {
    port_init();
    if (!console_begin() ||
        edgec_wakeword_init(&network, arena, sizeof arena, state, sizeof state) != EDGEC_OK) {
        return 1;
    }
    for (;;) {
        const int character = port_poll_char();
        if (character >= 0) {
            console_receive((char)character);
        } else if (console_is_idle()) {
            listen();
        }
    }
}
