/* The interface of port.h on Cortex-M. */
#include "port.h"

#include "board_config.h"
#include "board_io.h"
#include "cortex_m.h"
#include "cycles.h"

static uint32_t clock_hz;

void port_init(void) {
    clock_hz = board_clock_init();
    cycles_init();
    board_console_init(clock_hz);
    if (clock_hz != PORT_CLOCK_HZ) {
        static const char warning[] = "\r\nwarning: an oscillator failed, running slowly\r\n";
        port_write(warning, sizeof warning - 1U);
    }
}

void port_write(const char *bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        board_put(bytes[i]);
    }
}

int port_poll_char(void) {
    return board_get();
}

int port_read_char(void) {
    int byte;
    do {
        byte = board_get();
    } while (byte < 0);
    return byte;
}

uint32_t port_cycles_hz(void) {
    return clock_hz;
}

_Noreturn void port_halt(void) {
    __asm volatile("cpsid i" ::: "memory");
    for (;;) {
        __asm volatile("wfi");
    }
}

_Noreturn void port_reset(void) {
    barrier();
    SCB_AIRCR = SCB_AIRCR_SYSRESETREQ;
    barrier();
    for (;;) {
    }
}
