/* Numbers without the C library, beside those of text.h. */
#ifndef EDGEC_APP_NUMBERS_H
#define EDGEC_APP_NUMBERS_H

#include <stdint.h>

/* Write a whole number below 2^61. */
void number_put_uint64(uint64_t value);

/* Write a number as printf's "%.3f" does: rounded to the nearest, ties to even.  Beyond 2^53 it is
 * 2^53; no output of a network is that. */
void number_put_real(float value);

/* The code of a real number that lies `steps` from zero: rounded half up, saturated to
 * [-most - 1, most]. */
int32_t number_code(double steps, int32_t zero_point, int32_t most);

#endif
