/* A cascade of biquads, as ir/qops/biquad.py defines it. */
#ifndef EDGEC_SENSOR_BIQUAD_H
#define EDGEC_SENSOR_BIQUAD_H

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sample of an axis through all sections; `state` is that of the axis. */
EDGEC_SEPARATE int32_t edgec_biquads(int32_t sample, int32_t *state, const edgec_s32_t *coefficient,
                                     int32_t sections) {
    int32_t v = sample * 8192;
    int32_t p = state[0];
    int32_t q = state[1];
    state[1] = p;
    state[0] = v;
    int32_t *own = state + 2;
    const edgec_s32_t *c = coefficient;
    for (int32_t section = 0; section < sections; section++) {
        const int32_t y1 = own[0];
        const int32_t y2 = own[1];
        int64_t sum = (int64_t)c[0] * v + (int64_t)c[1] * p + (int64_t)c[2] * q;
        sum += own[2] - (int64_t)c[3] * y1 - (int64_t)c[4] * y2;
        own[2] = (int32_t)((uint32_t)(uint64_t)sum & 0x1FFFFFFFU);
        const int64_t result = sum >> 29;
        const int32_t most = INT32_C(1) << 30;
        v = (result > most) ? most : (result < -most) ? -most : (int32_t)result;
        own[0] = v;
        own[1] = y1;
        p = y1;
        q = y2;
        own += 3;
        c += 5;
    }
    const int32_t code = (v + 4096) >> 13;
    return (code > 32767) ? 32767 : (code < -32768) ? -32768 : code;
}

#ifdef __cplusplus
}
#endif

#endif
