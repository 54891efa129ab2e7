#include "steps.h"

#include "crc32.h"
#include "port.h"
#include "reply.h"
#include "text.h"

static void put_step(uint32_t step, uint32_t bytes) {
    text_put("step=");
    text_put_uint(step);
    text_put(" bytes=");
    text_put_uint(bytes);
}

void trace_step(void *user, uint32_t step, const void *output, uint32_t bytes) {
    (void)user;
    put_step(step, bytes);
    text_put(" crc=");
    text_put_hex32(crc32_update(0, output, bytes));
    text_end_line();
}

void dump_step(void *user, uint32_t step, const void *output, uint32_t bytes) {
    const uint32_t *wanted = user;
    if (step == *wanted) {
        reply_data(output, bytes);
    }
}

void bench_step(void *user, uint32_t step, const void *output, uint32_t bytes) {
    uint32_t *start = user;
    const uint32_t cycles = port_cycles() - *start;
    (void)output;
    put_step(step, bytes);
    reply_number(" cycles=", cycles);
    *start = port_cycles();
}
