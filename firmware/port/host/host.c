/* The interface of port.h on a POSIX computer: the console is standard input and output.
 *
 * Source: POSIX.1-2017 read, write, poll, clock_gettime. */
#define _POSIX_C_SOURCE 200809L

#include "port.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COUNTS_PER_SECOND 10000000U /* 32 bits of them last for seven minutes */
#define COUNT_NANOSECONDS 100U

void port_init(void) {
}

void port_write(const char *bytes, uint32_t count) {
    while (count > 0U) {
        const ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written < 0 && errno != EINTR) {
            exit(EXIT_FAILURE); /* nobody listens any more */
        }
        if (written > 0) {
            bytes += written;
            count -= (uint32_t)written;
        }
    }
}

int port_read_char(void) {
    unsigned char byte;
    ssize_t got;
    do {
        got = read(STDIN_FILENO, &byte, 1);
    } while (got < 0 && errno == EINTR);
    return got == 1 ? (int)byte : -1;
}

int port_poll_char(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) == 1 ? port_read_char() : -1;
}

uint32_t port_cycles(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return 0;
    }
    const uint64_t seconds = (uint64_t)now.tv_sec;
    return (uint32_t)(seconds * COUNTS_PER_SECOND + (uint64_t)now.tv_nsec / COUNT_NANOSECONDS);
}

uint32_t port_cycles_hz(void) {
    return COUNTS_PER_SECOND;
}

uint32_t port_stack_used(void) {
    return 0;
}

bool port_pulse(void) {
    return false;
}

_Noreturn void port_halt(void) {
    exit(EXIT_FAILURE);
}

_Noreturn void port_reset(void) {
    exit(EXIT_SUCCESS);
}
