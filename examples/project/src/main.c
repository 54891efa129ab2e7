/* The main program of the firmware: edit it, it is yours.
 *
 * A line of numbers, separated by spaces or commas, is a sample: 64 brightnesses from 0 to 1, row
 * by row.  Its answer is what the network sees, such as `seven 12.368`.  Every other line goes to
 * edgec's console, so that `edgec run`, `validate` and `profile` work with this firmware as well.
 *
 * There is no C library: text.h reads and writes numbers, port.h is the board, and edgec_*.h, the
 * header of the network, explains its functions.
 */
#include "console.h"
#include "edgec_digits_resnet.h"
#include "port.h"
#include "text.h"

/* For another network: its header above, and its name here. */
#define NETWORK(function) edgec_digits_resnet_##function
#define NUMBERS EDGEC_DIGITS_RESNET_INPUT_0_ELEMENTS
#define SCORES EDGEC_DIGITS_RESNET_OUTPUT_0_ELEMENTS

#define WORD_LENGTH 31U

/* The sample that is being read. */
static float numbers[NUMBERS];
static uint32_t count;
static char word[WORD_LENGTH + 1U];
static uint32_t length;
static bool is_open;
static bool is_wrong;

static void put_decision(const edgec_context_t *network) {
    static float scores[SCORES];
    const uint32_t best = NETWORK(argmax)(network);
    (void)NETWORK(dequantize)(network, scores);
    text_put(NETWORK(label)(best));
    text_put(" ");
    text_put_real(scores[best]);
}

/* A sensor of the board takes this way, too: fill `numbers`, and call it. */
static void decide(void) {
    edgec_context_t network;
    if (NETWORK(init)(&network, console_borrow_arena(), EDGEC_APP_ARENA_SIZE) == EDGEC_OK &&
        NETWORK(quantize)(&network, numbers) == EDGEC_OK && NETWORK(run)(&network) == EDGEC_OK) {
        put_decision(&network);
    } else {
        text_put("error: the network failed");
    }
    text_end_line();
}

static void end_number(void) {
    word[length] = '\0';
    if (length > 0U && (count == NUMBERS || !text_parse_real(word, &numbers[count++]))) {
        is_wrong = true;
    }
    length = 0;
}

static void end_sample(void) {
    if (is_wrong || count != NUMBERS) {
        text_put("error: a sample has ");
        text_put_uint(NUMBERS);
        text_put(" numbers");
        text_end_line();
    } else {
        decide();
    }
    is_open = false;
}

static bool begins_sample(char character) {
    return (character >= '0' && character <= '9') || character == '-' || character == '+' ||
           character == '.';
}

static void receive(char character) {
    if (!is_open && !(console_is_idle() && begins_sample(character))) {
        console_receive(character);
        return;
    }
    if (!is_open) {
        is_open = true;
        is_wrong = false;
        count = 0;
    }
    if (character == '\n' || character == '\r') {
        end_number();
        end_sample();
    } else if (character == ' ' || character == ',' || character == '\t') {
        end_number();
    } else if (length < WORD_LENGTH) {
        word[length++] = character;
    } else {
        is_wrong = true;
    }
}

int main(void) {
    port_init();
    if (!console_begin()) {
        return 1;
    }
    for (;;) {
        const int character = port_read_char(); /* port_poll_char does not wait */
        if (character < 0) {
            return 0; /* the end of input, which only a computer has */
        }
        receive((char)character);
    }
}
