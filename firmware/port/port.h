/* Functions of the board that a firmware program may use.  `port/common` implements it for
 * Cortex-M, `port/host` for a POSIX computer; see port/README.md. */
#ifndef EDGEC_PORT_H
#define EDGEC_PORT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
#define PORT_NORETURN [[noreturn]]
extern "C" {
#else
#define PORT_NORETURN _Noreturn
#endif

/* Place of a large variable that start-up code leaves as it is: the models' arena. */
#if defined(__arm__)
#define PORT_ARENA __attribute__((section(".bss.edgec_arena")))
#else
#define PORT_ARENA
#endif

/* Set up the clocks, the console and the cycle counter; call it first. */
void port_init(void);

/* Send bytes over the console; returns when the last one is handed to the UART. */
void port_write(const char *bytes, uint32_t count);

/* The next byte from the console, 0 to 255, waiting for it; negative at the end of the input, which
 * only a host has. */
int port_read_char(void);

/* The next byte from the console, 0 to 255, or negative when none is waiting. */
int port_poll_char(void);

/* Core clock cycles since port_init, modulo 2^32; on a host, time in units of 1 / port_cycles_hz.
 */
uint32_t port_cycles(void);

/* Counts of port_cycles in a second: the clock that the set-up reached. */
uint32_t port_cycles_hz(void);

/* Most bytes of stack that were ever in use; 0 where that is not known. */
uint32_t port_stack_used(void);

/* Let the pin for time stamps fall, hold it low for a millisecond and let it rise; false, at once,
 * on a board whose file names no such pin. */
bool port_pulse(void);

/* Stop for good. */
PORT_NORETURN void port_halt(void);

/* Start again as after power-up; a host ends the program. */
PORT_NORETURN void port_reset(void);

#ifdef __cplusplus
}
#endif

#endif
