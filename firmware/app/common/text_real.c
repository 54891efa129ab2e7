/* The functions of text.h for numbers that are larger than 32 bits, or have decimals. */
#include <float.h>
#include <string.h>

#include "text.h"

#define MANTISSA_BITS 23U
#define HIDDEN_BIT (UINT32_C(1) << MANTISSA_BITS)
#define EXPONENT_BIAS 150U /* of a mantissa that is a whole number */
#define MOST_LEFT 29U      /* bits that 2^24 may move to stay below 2^53 */
#define MOST_RIGHT 62U
#define MILLI 1000U
#define BILLION 1000000000U
#define MOST_POWER 1000 /* of ten; exponents beyond it are not told apart */
/* Largest number that rounds to a finite float: half of the last bit of FLT_MAX above it. */
#define MOST_REAL ((double)FLT_MAX * (1.0 + 1.0 / 33554432.0))
#define LEAST_POWER (-60) /* nine digits times this power of ten are no float but 0 */

/* |value| in thousandths, rounded to the nearest, ties to even. */
static uint64_t thousandths(uint32_t bits) {
    const uint32_t field = (bits >> MANTISSA_BITS) & 0xFFU;
    const uint32_t mantissa = (bits & (HIDDEN_BIT - 1U)) | (field > 0U ? HIDDEN_BIT : 0U);
    const uint32_t exponent = field > 0U ? field : 1U;
    if (exponent > EXPONENT_BIAS + MOST_LEFT) {
        return ((uint64_t)1 << (MANTISSA_BITS + 1U + MOST_LEFT)) * MILLI;
    }
    if (exponent >= EXPONENT_BIAS) {
        return ((uint64_t)mantissa << (exponent - EXPONENT_BIAS)) * MILLI;
    }
    const uint32_t right = EXPONENT_BIAS - exponent;
    if (right > MOST_RIGHT) {
        return 0;
    }
    const uint64_t product = (uint64_t)mantissa * MILLI;
    const uint64_t whole = product >> right;
    const uint64_t rest = product - (whole << right);
    const uint64_t half = (uint64_t)1 << (right - 1U);
    const bool up = rest > half || (rest == half && (whole & 1U) != 0U);
    return whole + (up ? 1U : 0U);
}

void text_put_uint64(uint64_t value) {
    const uint32_t low = (uint32_t)(value % BILLION);
    if (value >= BILLION) {
        text_put_uint((uint32_t)(value / BILLION));
        for (uint32_t digit = BILLION / 10U; digit > 1U && low < digit; digit /= 10U) {
            text_put("0");
        }
    }
    text_put_uint(low);
}

void text_put_real(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t scaled = thousandths(bits);
    if (bits >> 31 != 0U) {
        text_put("-");
    }
    text_put_uint64(scaled / MILLI);
    const uint32_t decimals = (uint32_t)(scaled % MILLI);
    text_put(decimals < 10U ? ".00" : decimals < 100U ? ".0" : ".");
    text_put_uint(decimals);
}

static bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

/* Take a sign, if there is one; whether it is a minus. */
static bool take_sign(const char **next) {
    const bool is_minus = **next == '-';
    if (is_minus || **next == '+') {
        (*next)++;
    }
    return is_minus;
}

/* Take digits with a point among them: the first nine as a whole number, and the power of ten that
 * it is to be multiplied by.  false: there are no digits. */
static bool take_digits(const char **next, uint32_t *digits, int32_t *power) {
    bool has_digits = false;
    bool has_point = false;
    *digits = 0;
    *power = 0;
    for (;; (*next)++) {
        const char character = **next;
        if (is_digit(character)) {
            const bool is_kept = *digits < BILLION / 10U;
            if (is_kept) {
                *digits = *digits * 10U + (uint32_t)(character - '0');
            }
            *power += (is_kept ? 0 : 1) - (has_point ? 1 : 0);
            has_digits = true;
        } else if (character == '.' && !has_point) {
            has_point = true;
        } else {
            return has_digits;
        }
    }
}

/* Take `e` and a whole number, if they are there, and add it to the power; false: not a number. */
static bool take_exponent(const char **next, int32_t *power) {
    if (**next != 'e' && **next != 'E') {
        return true;
    }
    (*next)++;
    const bool is_minus = take_sign(next);
    const char *const first = *next;
    int32_t exponent = 0;
    for (; is_digit(**next); (*next)++) {
        exponent = exponent < MOST_POWER ? exponent * 10 + (**next - '0') : exponent;
    }
    *power += is_minus ? -exponent : exponent;
    return *next != first;
}

bool text_parse_real(const char *word, float *value) {
    const char *next = word;
    const bool is_minus = take_sign(&next);
    uint32_t digits = 0;
    int32_t power = 0;
    if (!take_digits(&next, &digits, &power) || !take_exponent(&next, &power) || *next != '\0') {
        return false;
    }
    double result = (double)digits;
    for (; power > 0 && result > 0.0 && result <= MOST_REAL; power--) {
        result *= 10.0;
    }
    double divisor = 1.0;
    for (int32_t left = power > LEAST_POWER ? power : LEAST_POWER; left < 0; left++) {
        divisor *= 10.0;
    }
    result /= divisor;
    if (result > MOST_REAL) {
        return false;
    }
    *value = is_minus ? -(float)result : (float)result;
    return true;
}
