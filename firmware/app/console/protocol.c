#include "protocol.h"

#include <stddef.h>

#include "crc32.h"
#include "port.h"
#include "reply.h"
#include "steps.h"
#include "text.h"

/* Characters of a checksum: `*`, eight digits and a space. */
#define CHECKSUM_LENGTH 10U

/* Serves one request; `rest` is what follows its name.  NULL, or what went wrong. */
typedef const char *(*request_handler_t)(protocol_t *protocol, char *rest);

static const char wrong_arguments[] = "wrong arguments, see help";
static const char no_such_input[] = "no such input";
static const char no_such_output[] = "no such output";

static bool take_uint(char **rest, uint32_t *value) {
    const char *word = text_next_word(rest);
    return word != NULL && text_parse_uint(word, value);
}

/* Bytes of a tensor in a run of the length in force. */
static uint32_t bytes_of_run(const protocol_t *protocol, const edgec_tensor_t *tensor) {
    return tensor->bytes - protocol->missing * tensor->row_bytes;
}

static void put_tensor(const protocol_t *protocol, const char *kind, uint32_t index,
                       const edgec_tensor_t *tensor) {
    text_put(kind);
    text_put_uint(index);
    text_put(" bytes=");
    text_put_uint(bytes_of_run(protocol, tensor));
    static const char *const names[] = {" dtype=int8", " dtype=int32", " dtype=int16"};
    text_put(names[tensor->dtype]);
    text_put(" zero_point=");
    text_put_int(tensor->zero_point);
    text_end_line();
}

void protocol_forget(protocol_t *protocol) {
    protocol->has_outputs = false;
    for (uint32_t i = 0; i < PROTOCOL_MAX_INPUTS; i++) {
        protocol->written[i] = 0;
    }
}

static edgec_status_t begin_model(const protocol_config_t *config, const edgec_model_t *model,
                                  edgec_context_t *context) {
#ifdef PROTOCOL_STATE
    if (model->state_bytes > 0U) {
        return model->init_state(context, config->arena, config->arena_bytes, config->state,
                                 config->state_bytes);
    }
#endif
    return model->init(context, config->arena, config->arena_bytes);
}

static const char *select_model(protocol_t *protocol, uint32_t index) {
    const protocol_config_t *config = protocol->config;
    const edgec_model_t *model = config->models[index];
    edgec_context_t context;
    if (model->num_inputs > PROTOCOL_MAX_INPUTS) {
        return "model has too many inputs";
    }
    if (begin_model(config, model, &context) != EDGEC_OK) {
        return "model refuses the arena";
    }
    protocol->model = model;
    protocol->context = context;
    protocol->missing = 0;
    protocol_forget(protocol);
    return NULL;
}

static const char *serve_info(protocol_t *protocol, char *rest) {
    const protocol_config_t *config = protocol->config;
    const edgec_model_t *model = protocol->model;
    (void)rest;
    reply_number("protocol=", PROTOCOL_VERSION);
    reply_text("edgec=", config->version);
    reply_text("board=", config->board);
    reply_number("clock_hz=", port_cycles_hz());
    reply_number("line=", PROTOCOL_LINE_BYTES);
    reply_number("frame=", PROTOCOL_FRAME_BYTES);
    reply_number("stack=", port_stack_used());
    reply_number("models=", config->num_models);
    reply_text("model=", model->name);
    reply_text("digest=", model->digest);
    reply_number("arena=", model->arena_bytes);
#ifdef PROTOCOL_STATE
    if (model->state_bytes > 0U) {
        reply_number("state=", model->state_bytes);
    }
    if (model->image_runs > 0U) {
        reply_number("image_runs=", model->image_runs);
    }
    if (model->image_passes > 0U) {
        reply_number("image_passes=", model->image_passes);
    }
#endif
    reply_number("steps=", model->num_steps);
    if (model->set_activation_bits != NULL) {
        reply_number("runtime_bits=", 1);
    }
    if (model->max_length > 0U) {
        reply_number("max_length=", model->max_length);
    }
    for (uint32_t i = 0; i < model->num_inputs; i++) {
        put_tensor(protocol, "input=", i, &model->inputs[i]);
    }
    for (uint32_t i = 0; i < model->num_outputs; i++) {
        put_tensor(protocol, "output=", i, &model->outputs[i]);
    }
    return NULL;
}

static const char *serve_model(protocol_t *protocol, char *rest) {
    uint32_t index = 0;
    if (!take_uint(&rest, &index)) {
        return wrong_arguments;
    }
    if (index >= protocol->config->num_models) {
        return "no such model";
    }
    return select_model(protocol, index);
}

static const char *serve_bits(protocol_t *protocol, char *rest) {
    uint32_t bits = 0;
    if (!take_uint(&rest, &bits)) {
        return wrong_arguments;
    }
    if (protocol->model->set_activation_bits == NULL) {
        return "model has fixed widths";
    }
    const int32_t wanted = bits < 8U ? (int32_t)bits : 8;
    const int32_t bits_set = protocol->model->set_activation_bits(&protocol->context, wanted);
    reply_number("bits=", (uint32_t)bits_set);
    return NULL;
}

static const char *serve_length(protocol_t *protocol, char *rest) {
    const uint32_t longest = protocol->model->max_length; /* 0 where all runs have one length */
    uint32_t length = 0;
    if (!take_uint(&rest, &length)) {
        return wrong_arguments;
    }
    if (length < 1U || length > longest) {
        return "no such length";
    }
    protocol->missing = longest - length;
    protocol_forget(protocol);
    return NULL;
}

#ifdef PROTOCOL_STATE
static const char *serve_reset(protocol_t *protocol, char *rest) {
    (void)rest;
    if (protocol->model->reset == NULL) {
        return "model keeps nothing";
    }
    (void)protocol->model->reset(&protocol->context);
    protocol_forget(protocol);
    return NULL;
}
#endif

static const char *serve_ping(protocol_t *protocol, char *rest) {
    const char *word = text_next_word(&rest);
    (void)protocol;
    reply_text("ping=", word != NULL ? word : "");
    return NULL;
}

/* Address of `count` bytes of an input, from `start`, for a request that writes them; NULL, with an
 * error, if they cannot be. */
static uint8_t *place_of(protocol_t *protocol, uint32_t index, uint32_t start, uint32_t count,
                         const char **error) {
    const edgec_model_t *model = protocol->model;
    *error = no_such_input;
    if (index >= model->num_inputs) {
        return NULL;
    }
    const edgec_tensor_t *input = &model->inputs[index];
    const uint32_t bytes = bytes_of_run(protocol, input);
    *error = "data beyond the input";
    if (start > bytes || count > bytes - start) {
        return NULL;
    }
    *error = "gap before the data";
    if (start > protocol->written[index]) {
        return NULL;
    }
    *error = NULL;
    protocol->has_outputs = false; /* an input may lie where an output was */
    return protocol->context.arena + input->offset + start;
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static const char *serve_write(protocol_t *protocol, char *rest) {
    uint32_t index = 0;
    uint32_t start = 0;
    if (!take_uint(&rest, &index) || !take_uint(&rest, &start)) {
        return wrong_arguments;
    }
    char *data = text_next_word(&rest);
    const int32_t decoded = data != NULL ? text_decode_bytes(data) : -1;
    if (decoded < 0) {
        return wrong_arguments;
    }
    const uint32_t count = (uint32_t)decoded;
    const char *error = NULL;
    uint8_t *target = place_of(protocol, index, start, count, &error);
    if (target == NULL) {
        return error;
    }
    for (uint32_t i = 0; i < count; i++) {
        target[i] = (uint8_t)data[i];
    }
    protocol->written[index] = larger(protocol->written[index], start + count);
    return NULL;
}

/* The bytes that follow are taken even if they have no place, so that they are not read as lines.
 */
static const char *serve_frame(protocol_t *protocol, char *rest) {
    uint32_t index = 0;
    uint32_t start = 0;
    uint32_t count = 0;
    if (!take_uint(&rest, &index) || !take_uint(&rest, &start) || !take_uint(&rest, &count) ||
        count > PROTOCOL_FRAME_BYTES) {
        return wrong_arguments;
    }
    if (protocol->line[0] != '*') {
        return "a frame needs a checksum";
    }
    uint8_t *target = place_of(protocol, index, start, count, &protocol->frame_error);
    if (target != NULL) {
        protocol->frame_written = &protocol->written[index];
        protocol->frame_end = larger(*protocol->frame_written, start + count);
        *protocol->frame_written = start; /* until the bytes are known to be right */
    }
    frame_begin(&protocol->frame, target, count);
    return NULL;
}

static const char *end_frame(protocol_t *protocol) {
    if (protocol->frame_error != NULL) {
        return protocol->frame_error;
    }
    if (!frame_is_whole(&protocol->frame)) {
        return "line fails its checksum";
    }
    *protocol->frame_written = protocol->frame_end;
    return NULL;
}

static const char *run_model(protocol_t *protocol, edgec_step_hook_t hook, void *user) {
    const edgec_model_t *model = protocol->model;
    for (uint32_t i = 0; i < model->num_inputs; i++) {
        if (protocol->written[i] != bytes_of_run(protocol, &model->inputs[i])) {
            reply_number("incomplete_input=", i);
            return "write all inputs before a run";
        }
    }
    protocol_forget(protocol);
    protocol->context.hook = hook;
    protocol->context.hook_user = user;
    const uint32_t length = model->max_length - protocol->missing;
    const edgec_status_t status = model->run_length != NULL
                                      ? model->run_length(&protocol->context, length)
                                      : model->run(&protocol->context);
#ifdef PROTOCOL_STATE
    if (status == EDGEC_NOT_YET) {
        reply_number("ready=", 0);
        return NULL;
    }
#endif
    if (status != EDGEC_OK) {
        reply_number("status=", (uint32_t)status);
        return "run failed";
    }
    protocol->has_outputs = true;
    return NULL;
}

static const char *end_run(const char *error) {
    if (error == NULL) {
        reply_number("stack=", port_stack_used());
    }
    return error;
}

static const char *serve_run(protocol_t *protocol, char *rest) {
    (void)rest;
    const uint32_t start = port_cycles();
    const char *error = run_model(protocol, NULL, NULL);
    const uint32_t cycles = port_cycles() - start;
    if (error == NULL) {
        reply_number("cycles=", cycles);
    }
    return end_run(error);
}

static const char *serve_trace(protocol_t *protocol, char *rest) {
    (void)rest;
    return end_run(run_model(protocol, trace_step, NULL));
}

static const char *serve_dump(protocol_t *protocol, char *rest) {
    uint32_t wanted = 0;
    if (!take_uint(&rest, &wanted)) {
        return wrong_arguments;
    }
    if (wanted >= protocol->model->num_steps) {
        return "no such step";
    }
    return end_run(run_model(protocol, dump_step, &wanted));
}

static const char *serve_bench(protocol_t *protocol, char *rest) {
    uint32_t start = port_cycles();
    (void)rest;
    return end_run(run_model(protocol, bench_step, &start));
}

static const char *serve_read(protocol_t *protocol, char *rest) {
    const edgec_model_t *model = protocol->model;
    uint32_t index = 0;
    if (!take_uint(&rest, &index)) {
        return wrong_arguments;
    }
    if (index >= model->num_outputs) {
        return no_such_output;
    }
    if (!protocol->has_outputs) {
        return "run first";
    }
    const edgec_tensor_t *output = &model->outputs[index];
    uint32_t start = 0;
    const uint32_t size = bytes_of_run(protocol, output);
    uint32_t left = size;
    if (*rest != '\0' && (!take_uint(&rest, &start) || !take_uint(&rest, &left))) {
        return wrong_arguments;
    }
    if (start > size || left > size - start) {
        return "data beyond the output";
    }
    reply_data(protocol->context.arena + output->offset + start, left);
    return NULL;
}

static const char *serve_help(protocol_t *protocol, char *rest);

static const struct {
    const char *name;
    const char *help;
    request_handler_t serve;
} requests[] = {
    {"help", "", serve_help},
    {"info", "", serve_info},
    {"model", "N: select model", serve_model},
    {"bits", "N: width of activations", serve_bits},
    {"ping", "WORD", serve_ping},
    {"length", "N: tokens of a run", serve_length},
    {"write", "INPUT START HEX", serve_write},
    {"frame", "INPUT START COUNT, and bytes", serve_frame},
#ifdef PROTOCOL_STATE
    {"reset", ": begin a new stream", serve_reset},
#endif
    {"run", "", serve_run},
    {"read", "OUTPUT [START COUNT]", serve_read},
    {"trace", "= run + CRC-32 of steps", serve_trace},
    {"dump", "STEP: = run + its bytes", serve_dump},
    {"bench", "= run + cycles of steps", serve_bench},
};

#define NUM_REQUESTS (sizeof requests / sizeof requests[0])

static const char *serve_help(protocol_t *protocol, char *rest) {
    (void)protocol;
    (void)rest;
    for (uint32_t i = 0; i < NUM_REQUESTS; i++) {
        text_put(requests[i].name);
        reply_text(" ", requests[i].help);
    }
    return NULL;
}

/* Check and take off the line's checksum, if it has one.  Returns the request; NULL when damaged.
 */
static char *checked_request(protocol_t *protocol) {
    char *line = protocol->line;
    if (line[0] != '*') {
        return line;
    }
    uint32_t expected = 0;
    if (protocol->line_length < CHECKSUM_LENGTH || !text_parse_hex32(line + 1, &expected) ||
        line[CHECKSUM_LENGTH - 1U] != ' ') {
        return NULL;
    }
    char *request = line + CHECKSUM_LENGTH;
    const uint32_t crc = crc32_update(0, request, protocol->line_length - CHECKSUM_LENGTH);
    return crc == expected ? request : NULL;
}

static const char *serve_line(protocol_t *protocol) {
    if (protocol->line_is_long) {
        return "line is too long";
    }
    if (protocol->line_is_binary) {
        return "line is not text";
    }
    char *rest = checked_request(protocol);
    if (rest == NULL) {
        return "line fails its checksum";
    }
    const char *name = text_next_word(&rest);
    for (uint32_t i = 0; name != NULL && i < NUM_REQUESTS; i++) {
        if (text_words_equal(name, requests[i].name)) {
            return requests[i].serve(protocol, rest);
        }
    }
    return "line is unknown, see help";
}

static void end_reply(const char *error) {
    if (error == NULL) {
        const uint32_t crc = text_reply_crc();
        text_put("ok ");
        text_put_hex32(crc);
    } else {
        text_put("error: ");
        text_put(error);
    }
    text_end_line();
}

bool protocol_begin(protocol_t *protocol, const protocol_config_t *config) {
    protocol->config = config;
    text_put("edgec ");
    text_put(config->version);
    text_put(" on ");
    reply_text(config->board, ", type help");
    const char *error = select_model(protocol, 0);
    if (error != NULL) {
        end_reply(error);
    }
    return error == NULL;
}

void protocol_receive(protocol_t *protocol, char character) {
    if (frame_is_open(&protocol->frame)) {
        if (frame_take(&protocol->frame, (uint8_t)character)) {
            text_begin_reply();
            end_reply(end_frame(protocol));
        }
    } else if (character == '\n' || character == '\r') {
        if (protocol->line_length > 0U || protocol->line_is_long || protocol->line_is_binary) {
            protocol->line[protocol->line_length] = '\0';
            text_begin_reply();
            const char *error = serve_line(protocol);
            if (!frame_is_open(&protocol->frame)) {
                end_reply(error);
            }
        }
        protocol->line_length = 0;
        protocol->line_is_long = false;
        protocol->line_is_binary = false;
    } else if (character == '\b' || character == '\x7f') {
        if (protocol->line_length > 0U) {
            protocol->line_length--;
        }
    } else if (character < ' ' || character > '~') {
        protocol->line_is_binary = true;
    } else if (protocol->line_length == PROTOCOL_LINE_BYTES) {
        protocol->line_is_long = true;
    } else {
        protocol->line[protocol->line_length++] = character;
    }
}

bool protocol_is_idle(const protocol_t *protocol) {
    return protocol->line_length == 0U && !protocol->line_is_long && !protocol->line_is_binary &&
           !frame_is_open(&protocol->frame);
}
