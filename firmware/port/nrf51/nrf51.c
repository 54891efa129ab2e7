/* nRF51822 on a micro:bit v1: 16 MHz from the crystal, console on P0.24 (TX) and P0.25 (RX), which
 * lead to the interface chip.  The core has no SysTick; TIMER0 counts its clock.
 *
 * Source: nRF51 Series Reference Manual v3.0, chapters 12 (CLOCK), 14 (GPIO), 18 (TIMER).
 * Polls, beside drivers/: CLOCK HFCLKSTARTED. */
#include "board_config.h"
#include "board_io.h"
#include "cycles.h"

#define UART_BAUDRATE_921600 0x0EBEDFA4U
#include "nrf_uart.h"
#include "port.h"
#include "registers.h"

#define CLOCK_HFCLKSTART REG32(0x40000000U)
#define CLOCK_HFCLKSTARTED REG32(0x40000100U)

#define GPIO 0x50000000U
#define PIN_TX 24U
#define PIN_RX 25U

#define TIMER0_START REG32(0x40008000U)
#define TIMER0_CAPTURE0 REG32(0x40008040U)
#define TIMER0_BITMODE REG32(0x40008508U)
#define TIMER0_BITMODE_32 3U
#define TIMER0_PRESCALER REG32(0x40008510U)
#define TIMER0_CC0 REG32(0x40008540U)

/* The RC oscillator runs at the same nominal frequency, so nothing is lost without the crystal. */
uint32_t board_clock_init(void) {
    CLOCK_HFCLKSTART = 1;
    (void)wait_for(&CLOCK_HFCLKSTARTED, 1, 1);
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    uart_start(GPIO, PIN_TX, PIN_RX);
}

void board_put(char byte) {
    uart_put(byte);
}

int board_get(void) {
    return uart_get();
}

void cycles_init(void) {
    TIMER0_BITMODE = TIMER0_BITMODE_32;
    TIMER0_PRESCALER = 0; /* counts the 16 MHz clock that the core runs on */
    TIMER0_START = 1;
}

uint32_t port_cycles(void) {
    TIMER0_CAPTURE0 = 1;
    return TIMER0_CC0;
}
