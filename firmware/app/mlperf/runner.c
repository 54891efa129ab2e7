#include "runner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inference.h"
#include "lap.h"
#include "mlperf_config.h"
#include "text.h"

#define COMMAND_BYTES 80U
#define COMMAND_END '%'
#define PRINTED_BYTES 8U /* on one line of `db print` */
#define DEFAULT_WARMUP 10U

/* Identification of the firmware; the GUI of the energy runner looks for this very text. */
#define PROFILE "ULPMark for tinyML Firmware V0.0.1"

static const char *board_name;
static char command[COMMAND_BYTES + 1U];
static uint32_t command_length;
static uint8_t data[MLPERF_INPUT_BYTES];
static uint32_t data_expected; /* by `db load`; 0: nothing */
static uint32_t data_taken;

static void put_line(const char *text) {
    text_put(text);
    text_end_line();
}

static void put_number_line(const char *before, uint32_t number, const char *after) {
    text_put(before);
    text_put_uint(number);
    put_line(after);
}

static void put_quoted_line(const char *before, const char *text, const char *after) {
    text_put(before);
    text_put(text);
    put_line(after);
}

static bool take_uint(char **rest, uint32_t *value) {
    const char *word = text_next_word(rest);
    return word == NULL || text_parse_uint(word, value);
}

static void serve_load(char *rest) {
    uint32_t bytes = 0;
    data_expected = 0;
    data_taken = 0;
    if (*rest == '\0') {
        put_line("e-[Command 'db load' requires the # of bytes]");
    } else if (!take_uint(&rest, &bytes) || bytes == 0U) {
        put_line("e-[Command 'db load' must be >0 bytes]");
    } else if (bytes > MLPERF_INPUT_BYTES) {
        put_number_line("e-[The input of " MLPERF_MODEL " has ", MLPERF_INPUT_BYTES, " bytes]");
    } else {
        data_expected = bytes;
        put_number_line("m-[Expecting ", bytes, " bytes]");
    }
}

static void serve_print(void) {
    for (uint32_t i = 0; i < data_expected; i++) {
        if (i % PRINTED_BYTES == 0U) {
            text_put("m-buffer-");
        }
        text_put_bytes(&data[i], 1);
        if ((i + 1U) % PRINTED_BYTES == 0U || i + 1U == data_expected) {
            text_end_line();
        } else {
            text_put("-");
        }
    }
}

static void serve_bytes(char *word) {
    uint32_t digits = 0;
    while (word[digits] != '\0') {
        digits++;
    }
    if (digits % 2U != 0U) {
        put_line("e-[Insufficent number of hex digits]");
        return;
    }
    const int32_t count = text_decode_bytes(word);
    if (count < 0) {
        put_line("e-[Invalid hex digit]");
    } else if (data_taken == data_expected) {
        put_line("e-[No bytes expected, 'db load' goes first]");
    } else {
        /* Bytes beyond the last one are dropped. */
        for (int32_t i = 0; i < count && data_taken < data_expected; i++) {
            data[data_taken++] = (uint8_t)word[i];
        }
        if (data_taken == data_expected) {
            put_line("m-load-done");
        }
    }
}

static void serve_db(char *rest) {
    char *word = text_next_word(&rest);
    if (word == NULL) {
        put_line("e-[Command 'db' requires a subcommand]");
    } else if (text_words_equal(word, "load")) {
        serve_load(rest);
    } else if (text_words_equal(word, "print")) {
        serve_print();
    } else {
        serve_bytes(word);
    }
}

/* false, with a message, when the model fails. */
static bool run(uint32_t times) {
    for (uint32_t i = 0; i < times; i++) {
        if (!inference_run()) {
            put_line("e-[The model failed]");
            return false;
        }
        lap_count(); /* the cycle counter has 32 bits, and the runs take longer */
    }
    return true;
}

static void serve_infer(char *rest) {
    uint32_t times = 1;
    uint32_t warmup = DEFAULT_WARMUP;
    if (!take_uint(&rest, &times) || times == 0U) {
        put_line("e-[Inference iterations must be >0]");
        return;
    }
    if (!take_uint(&rest, &warmup)) {
        put_line("e-[Inference warmup must be >=0]");
        return;
    }
    if (data_taken != MLPERF_INPUT_BYTES) {
        text_put("e-[Input has ");
        text_put_uint(data_taken);
        put_number_line(" bytes of ", MLPERF_INPUT_BYTES, "]");
        return;
    }
    inference_load(data);
    put_number_line("m-warmup-start-", warmup, "");
    if (!run(warmup)) {
        return;
    }
    put_line("m-warmup-done");
    put_number_line("m-infer-start-", times, "");
    lap_stamp();
    if (!run(times)) {
        return;
    }
    lap_stamp();
    put_line("m-infer-done");
    inference_put_results(data);
}

static void serve_help(void) {
    put_line(PROFILE);
    put_line("");
    put_line("help         : Print this information");
    put_line("name         : Print the name of the device");
    put_line("profile      : Print the profile and the model");
    put_line("timestamp    : Generate a timestamp");
    put_line("db load N    : Expect N bytes of input");
    put_line("db HH[HH]*   : Load hexadecimal bytes, until there are N");
    put_line("db print     : Print them");
    put_line("infer N [W=10]: Run N inferences after W to warm up");
    put_line("results      : Print the outputs of the last one");
}

static void serve(char *rest) {
    const char *name = text_next_word(&rest);
    if (name == NULL) {
        return;
    }
    if (text_words_equal(name, "name")) {
        put_quoted_line("m-name-dut-[edgec ", board_name, "]");
    } else if (text_words_equal(name, "timestamp")) {
        lap_stamp();
    } else if (text_words_equal(name, "profile")) {
        put_line("m-profile-[" PROFILE "]");
        put_line("m-model-[" MLPERF_MODEL "]");
    } else if (text_words_equal(name, "help")) {
        serve_help();
    } else if (text_words_equal(name, "db")) {
        serve_db(rest);
    } else if (text_words_equal(name, "infer")) {
        serve_infer(rest);
    } else if (text_words_equal(name, "results")) {
        inference_put_results(data);
    } else {
        put_quoted_line("e-[Unknown command: ", name, "]");
    }
}

void runner_begin(const char *board) {
    board_name = board;
    put_line(MLPERF_ENERGY ? "m-timestamp-mode-energy" : "m-timestamp-mode-performance");
    lap_stamp(); /* in energy mode it leaves the pin high, so that the next one falls */
    put_line("m-init-done");
    put_line("m-ready");
}

void runner_receive(char character) {
    if (character == COMMAND_END) {
        command[command_length <= COMMAND_BYTES ? command_length : 0U] = '\0';
        if (command_length > COMMAND_BYTES) {
            put_line("e-[Command is longer than 80 characters]");
        } else {
            serve(command);
        }
        put_line("m-ready");
        command_length = 0;
    } else if (character != '\r' && character != '\n' && character != '\0') {
        if (command_length < COMMAND_BYTES) {
            command[command_length] = character;
        }
        if (command_length <= COMMAND_BYTES) {
            command_length++;
        }
    }
}
