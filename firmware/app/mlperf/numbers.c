#include "numbers.h"

#define FAR 65536.0 /* further than any code */

int32_t number_code(double steps, int32_t zero_point, int32_t most) {
    const double near = steps > FAR ? FAR : steps > -FAR ? steps : -FAR;
    const double moved = near + 0.5;
    const int32_t cut = (int32_t)moved; /* toward zero */
    const int32_t code = cut - ((double)cut > moved ? 1 : 0) + zero_point;
    return code > most ? most : code < -most - 1 ? -most - 1 : code;
}
