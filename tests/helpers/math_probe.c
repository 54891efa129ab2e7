/* Applies the functions of edgec/arithmetic/math.h and edgec/arithmetic/tflite.h to records read
 * from a file.
 *
 *     math_probe IN OUT
 *
 * A record is nine int32: operation, shift, then seven operands; a result is one int32.  Each shift
 * has its own functions, in which it is a constant, as in generated code, and is also passed to one
 * function as a variable. */
#include <stdio.h>
#include <stdlib.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/tflite.h"

enum operation {
    RSHR32,
    REQUANTIZE,
    REQUANTIZE_S8,
    ADD_S8,
    REQUANTIZE_VARIABLE,
    SCALED_TWICE,
    TWICE_S8,
    TWICE_ANY_S8,
    OFFSET_S8,
    FINE20,
};

typedef int32_t (*function_t)(const int32_t *operands);

#define DEFINE(SHIFT)                                                                              \
    static int32_t requantize_##SHIFT(const int32_t *operands) {                                   \
        return edgec_requantize(operands[0], operands[1], SHIFT);                                  \
    }                                                                                              \
    static int32_t requantize_s8_##SHIFT(const int32_t *operands) {                                \
        return edgec_requantize_s8(operands[0], operands[1], SHIFT, operands[2], operands[3],      \
                                   operands[4]);                                                   \
    }

#define DEFINE_10(TENS)                                                                            \
    DEFINE(TENS##0)                                                                                \
    DEFINE(TENS##1)                                                                                \
    DEFINE(TENS##2)                                                                                \
    DEFINE(TENS##3)                                                                                \
    DEFINE(TENS##4)                                                                                \
    DEFINE(TENS##5)                                                                                \
    DEFINE(TENS##6)                                                                                \
    DEFINE(TENS##7)                                                                                \
    DEFINE(TENS##8)                                                                                \
    DEFINE(TENS##9)

#define NAMES_10(NAME, TENS)                                                                       \
    NAME##_##TENS##0, NAME##_##TENS##1, NAME##_##TENS##2, NAME##_##TENS##3, NAME##_##TENS##4,      \
        NAME##_##TENS##5, NAME##_##TENS##6, NAME##_##TENS##7, NAME##_##TENS##8, NAME##_##TENS##9

#define NAMES(NAME)                                                                                \
    NULL, NAME##_1, NAME##_2, NAME##_3, NAME##_4, NAME##_5, NAME##_6, NAME##_7, NAME##_8,          \
        NAME##_9, NAMES_10(NAME, 1), NAMES_10(NAME, 2), NAMES_10(NAME, 3), NAMES_10(NAME, 4),      \
        NAMES_10(NAME, 5), NAME##_60, NAME##_61, NAME##_62

DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)
DEFINE(8)
DEFINE(9)
DEFINE_10(1)
DEFINE_10(2)
DEFINE_10(3)
DEFINE_10(4)
DEFINE_10(5)
DEFINE(60)
DEFINE(61)
DEFINE(62)

static const function_t requantize_functions[] = {NAMES(requantize)};
static const function_t requantize_s8_functions[] = {NAMES(requantize_s8)};

static int32_t add(int32_t shift, const int32_t *operands) {
    const edgec_add_params_t params = {
        .a_zero_point = operands[2],
        .b_zero_point = operands[3],
        .a_multiplier = operands[4],
        .b_multiplier = operands[5],
        .shift = shift,
        .y_zero_point = operands[6],
        .act_min = -128,
        .act_max = 127,
    };
    return edgec_add_s8(operands[0], operands[1], &params);
}

static int32_t evaluate(const int32_t *record) {
    const int32_t shift = record[1];
    const int32_t *operands = &record[2];
    switch (record[0]) {
    case RSHR32:
        return edgec_rshr32(operands[0], shift);
    case REQUANTIZE:
        return requantize_functions[shift](operands);
    case REQUANTIZE_S8:
        return requantize_s8_functions[shift](operands);
    case ADD_S8:
        return add(shift, operands);
    case REQUANTIZE_VARIABLE:
        return edgec_requantize(operands[0], operands[1], shift);
    case SCALED_TWICE:
        return edgec_scaled_twice(operands[0], operands[1], shift);
    case TWICE_S8:
        return edgec_requantize_twice_s8(operands[0], operands[1], operands[2], shift, operands[3],
                                         operands[4]);
    case TWICE_ANY_S8:
        return edgec_requantize_twice_any_s8(operands[0], operands[1], operands[2], shift,
                                             operands[3], operands[4]);
    case OFFSET_S8:
        return edgec_requantize_offset_s8(operands[0], operands[1], operands[2], shift, operands[3],
                                          operands[4]);
    case FINE20:
        return edgec_tflite_sum20(operands[0], operands[1], shift);
    default:
        abort();
    }
}

int main(int argc, char **argv) {
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (in == NULL || out == NULL) {
        return 1;
    }
    int32_t record[9];
    while (fread(record, sizeof record, 1, in) == 1) {
        const int32_t result = evaluate(record);
        if (fwrite(&result, sizeof result, 1, out) != 1) {
            return 1;
        }
    }
    return fclose(in) == 0 && fclose(out) == 0 ? 0 : 1;
}
