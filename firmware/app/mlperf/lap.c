#include "lap.h"

#include <stdint.h>

#include "mlperf_config.h"
#include "port.h"
#include "text.h"

#define MICROSECONDS 1000000U

static uint32_t counted_at; /* port_cycles at the last count */
static uint64_t cycles;

void lap_count(void) {
    const uint32_t now = port_cycles();
    cycles += now - counted_at;
    counted_at = now;
}

void lap_stamp(void) {
    lap_count();
    if (MLPERF_ENERGY && port_pulse()) {
        return;
    }
    const uint32_t hz = port_cycles_hz();
    text_put("m-lap-us-");
    text_put_uint64(cycles / hz * MICROSECONDS + cycles % hz * MICROSECONDS / hz);
    text_end_line();
}
