/* Functions that each MCU family implements for port/common.  Called in this order. */
#ifndef EDGEC_PORT_BOARD_IO_H
#define EDGEC_PORT_BOARD_IO_H

#include <stdint.h>

/* Bring the clocks to the nominal speed, or leave the reset clock where an oscillator does not
 * start.  The core clock in hertz that was reached. */
uint32_t board_clock_init(void);

/* Set up the console for PORT_BAUD at this core clock. */
void board_console_init(uint32_t clock_hz);

/* Send one byte, waiting for room. */
void board_put(char byte);

/* The received byte, or negative when there is none. */
int board_get(void);

#endif
