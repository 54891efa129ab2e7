/* The interface of every model that edgec generates.  Header only; C11; no heap, no float.
 *
 * A model works in one block of memory, its arena, that the caller provides.  Inputs and outputs
 * lie inside it at fixed places:
 *
 *     EDGEC_ALIGNED static uint8_t arena[EDGEC_DIGITS_ARENA_BYTES];
 *     edgec_context_t context;
 *     edgec_digits_init(&context, arena, sizeof arena);
 *     memcpy(edgec_digits_input(&context, 0), image, EDGEC_DIGITS_INPUT_0_BYTES);
 *     edgec_digits_run(&context);
 *     const int8_t *scores = (const int8_t *)edgec_digits_output(&context, 0);
 *
 * A model compiled with --max-length also has edgec_<name>_run_length for shorter runs, whose
 * inputs and outputs hold their tokens at the front.
 *
 * A model that keeps a state between its runs has a second block of memory, which
 * edgec_<name>_init takes after the arena and resets; edgec_<name>_reset does that alone, for the
 * next stream.  Nobody else may write there while the stream lasts.
 *
 * A model compiled with --stream takes a few frames a run.  Its first runs after a reset return
 * EDGEC_NOT_YET: they keep their frames, and their outputs mean nothing.
 *
 * A model compiled with --input-rows takes an image a few rows a run, and has
 * edgec_<name>_push_rows, which takes any number of rows.  Both return EDGEC_NOT_YET before the
 * image is complete; until then nobody else may write to the arena.
 *
 * A run overwrites its inputs.  Contexts share nothing, so models may run in several threads, and
 * several models may use one arena in turn.  Each context has a state of its own.
 */
#ifndef EDGEC_EDGEC_H
#define EDGEC_EDGEC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number for the text of all runtime headers, which is set where a library gets them. */
#define EDGEC_RUNTIME 0x0UL

/* Alignment of the arena in bytes. */
#define EDGEC_ARENA_ALIGNMENT 8

/* Stands before the definition of an arena or a state, in C and in C++. */
#ifdef __cplusplus
#define EDGEC_ALIGNED alignas(EDGEC_ARENA_ALIGNMENT)
#else
#define EDGEC_ALIGNED _Alignas(EDGEC_ARENA_ALIGNMENT)
#endif

typedef enum edgec_status {
    EDGEC_OK = 0,
    EDGEC_ERROR_NULL = 1,      /* a pointer argument is NULL */
    EDGEC_ERROR_ARENA = 2,     /* the arena is too small or not aligned */
    EDGEC_ERROR_NOT_READY = 3, /* run before init */
    EDGEC_ERROR_LENGTH = 4,    /* no length that a run can have, or more rows than are missing */
    EDGEC_ERROR_STATE = 5,     /* the memory of the state is missing, too small or not aligned */
    EDGEC_NOT_YET = 6,         /* no error: outputs say nothing before more runs or rows */
} edgec_status_t;

typedef enum edgec_dtype {
    EDGEC_INT8 = 0,
    EDGEC_INT32 = 1,
    EDGEC_INT16 = 2,
} edgec_dtype_t;

/* Called after each step of a run: the step's number and its output tensor.  The tensor is valid
 * until the hook returns.  A step in a loop is called once a turn, under one number; `bytes` is 0
 * where later turns complete the tensor. */
typedef void (*edgec_step_hook_t)(void *user, uint32_t step, const void *output, uint32_t bytes);

/* One use of a model: the arena it works in, and what is set for its runs. */
typedef struct edgec_context {
    uint8_t *arena;
    edgec_step_hook_t hook; /* NULL: none; set after init */
    void *hook_user;
    int32_t activation_bits; /* in force; used only by models with set_activation_bits */
    uint8_t *state;          /* used only by models with a state */
    /* Runs of a stream that give EDGEC_NOT_YET, or rows that are missing of an image. */
    uint32_t waiting;
} edgec_context_t;

/* An input or output: where it lies in the arena, and how to read it. */
typedef struct edgec_tensor {
    uint32_t offset; /* bytes from the start of the arena */
    uint32_t bytes;
    edgec_dtype_t dtype;
    int32_t zero_point; /* real = scale * (q - zero_point); the scale is in the model's header */
    uint32_t row_bytes; /* by which it grows with a run's length; 0: it always has `bytes` */
} edgec_tensor_t;

/* A model as data, for programs that serve any model. */
typedef struct edgec_model {
    const char *name;   /* the C name, as in edgec_<name>_run */
    const char *digest; /* 16 hexadecimal digits of the model's SHA-256 */
    uint32_t arena_bytes;
    uint32_t num_inputs;
    uint32_t num_outputs;
    uint32_t num_steps;
    const edgec_tensor_t *inputs;
    const edgec_tensor_t *outputs;
    edgec_status_t (*init)(edgec_context_t *context, void *arena, uint32_t arena_bytes);
    edgec_status_t (*run)(edgec_context_t *context);
    /* See edgec_<name>_set_activation_bits in the model's header; NULL: its widths are fixed. */
    int32_t (*set_activation_bits)(edgec_context_t *context, int32_t bits);
    /* See edgec_<name>_run_length in the model's header; NULL: all runs have one length. */
    edgec_status_t (*run_length)(edgec_context_t *context, uint32_t length);
    uint32_t max_length; /* 0 where run_length is NULL */
    /* Bytes that a context keeps between runs.  0: none, and the functions below are NULL; else
     * `init` returns EDGEC_ERROR_STATE. */
    uint32_t state_bytes;
    /* See edgec_<name>_init and edgec_<name>_reset in the header of a model with a state. */
    edgec_status_t (*init_state)(edgec_context_t *context, void *arena, uint32_t arena_bytes,
                                 void *state, uint32_t state_bytes);
    edgec_status_t (*reset)(edgec_context_t *context);
    /* Runs that take an image together, each the next rows; 0: a run takes it whole.  `reset`
     * forgets the rows that came. */
    uint32_t image_runs;
    /* Times that the caller hands an image over, one after another, within these runs; 0: once. */
    uint32_t image_passes;
} edgec_model_t;

#ifdef __cplusplus
}
#endif

#endif
