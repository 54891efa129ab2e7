/* firmware/port/host with buffers: the campaign sends millions of lines through it. */
#include "port.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t cycles;

void port_init(void) {
}

void port_write(const char *bytes, uint32_t count) {
    if (fwrite(bytes, 1, count, stdout) != count) {
        exit(EXIT_FAILURE);
    }
}

int port_read_char(void) {
    return getchar();
}

int port_poll_char(void) {
    return -1;
}

uint32_t port_cycles(void) {
    return cycles += 7U;
}

uint32_t port_cycles_hz(void) {
    return 10000000U;
}

uint32_t port_stack_used(void) {
    return 0;
}

_Noreturn void port_halt(void) {
    abort();
}
