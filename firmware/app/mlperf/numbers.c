#include "numbers.h"

#include <stdbool.h>
#include <string.h>

#include "text.h"

#define MANTISSA_BITS 23U
#define MANTISSA_MASK ((1U << MANTISSA_BITS) - 1U)
#define EXPONENT_BIAS 150U /* of a mantissa that is a whole number */
#define MOST_LEFT 29U      /* bits that 2^24 may move to stay below 2^53 */
#define MOST_RIGHT 62U
#define MILLI 1000U
#define BILLION 1000000000U
#define FAR 65536.0 /* further than any code */

/* |value| in thousandths, rounded to the nearest, ties to even. */
static uint64_t thousandths(uint32_t bits) {
    const uint32_t field = (bits >> MANTISSA_BITS) & 0xFFU;
    const uint32_t mantissa = (bits & MANTISSA_MASK) | (field > 0U ? 1U << MANTISSA_BITS : 0U);
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

/* text_put_uint takes 32 bits. */
void number_put_uint64(uint64_t value) {
    const uint32_t low = (uint32_t)(value % BILLION);
    if (value >= BILLION) {
        text_put_uint((uint32_t)(value / BILLION));
        for (uint32_t digit = BILLION / 10U; digit > 1U && low < digit; digit /= 10U) {
            text_put("0");
        }
    }
    text_put_uint(low);
}

void number_put_real(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t scaled = thousandths(bits);
    if (bits >> 31 != 0U) {
        text_put("-");
    }
    number_put_uint64(scaled / MILLI);
    const uint32_t decimals = (uint32_t)(scaled % MILLI);
    text_put(decimals < 10U ? ".00" : decimals < 100U ? ".0" : ".");
    text_put_uint(decimals);
}

int32_t number_code(double steps, int32_t zero_point, int32_t most) {
    const double near = steps > FAR ? FAR : steps > -FAR ? steps : -FAR;
    const double moved = near + 0.5;
    const int32_t cut = (int32_t)moved; /* toward zero */
    const int32_t code = cut - ((double)cut > moved ? 1 : 0) + zero_point;
    return code > most ? most : code < -most - 1 ? -most - 1 : code;
}
