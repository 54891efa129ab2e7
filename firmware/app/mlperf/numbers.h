/* Codes of the runner's numbers. */
#ifndef EDGEC_APP_NUMBERS_H
#define EDGEC_APP_NUMBERS_H

#include <stdint.h>

/* The code of a real number that lies `steps` from zero: rounded half up, saturated to
 * [-most - 1, most]. */
int32_t number_code(double steps, int32_t zero_point, int32_t most);

#endif
