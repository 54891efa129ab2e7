/* nRF51822 on a micro:bit v1: 16 MHz from the crystal, console on P0.24 (TX) and P0.25 (RX), which
 * lead to the interface chip.  The core has no SysTick; TIMER0 counts its clock.
 *
 * Source: nRF51 Series Reference Manual v3.0, chapters 12 (CLOCK), 14 (GPIO), 18 (TIMER), 29
 * (UART). Polls CLOCK HFCLKSTARTED, UART TXDRDY and RXDRDY (events, 1 when they happened). */
#include "board_config.h"
#include "board_io.h"
#include "cycles.h"
#include "port.h"
#include "registers.h"

#define CLOCK_HFCLKSTART REG32(0x40000000U)
#define CLOCK_HFCLKSTARTED REG32(0x40000100U)

#define GPIO_OUTSET REG32(0x50000508U)
#define GPIO_DIRSET REG32(0x50000518U)
#define PIN_TX 24U
#define PIN_RX 25U
#define GPIO_PIN_CNF_RX REG32(0x50000700U + 4U * PIN_RX)
#define GPIO_INPUT_PULL_UP (3U << 2)

#define UART_STARTRX REG32(0x40002000U)
#define UART_STARTTX REG32(0x40002008U)
#define UART_RXDRDY REG32(0x40002108U)
#define UART_TXDRDY REG32(0x4000211CU)
#define UART_ENABLE REG32(0x40002500U)
#define UART_ENABLE_ON 4U
#define UART_PSELTXD REG32(0x4000250CU)
#define UART_PSELRXD REG32(0x40002514U)
#define UART_RXD REG32(0x40002518U)
#define UART_TXD REG32(0x4000251CU)
#define UART_BAUDRATE REG32(0x40002524U)

#define TIMER0_START REG32(0x40008000U)
#define TIMER0_CAPTURE0 REG32(0x40008040U)
#define TIMER0_BITMODE REG32(0x40008508U)
#define TIMER0_BITMODE_32 3U
#define TIMER0_PRESCALER REG32(0x40008510U)
#define TIMER0_CC0 REG32(0x40008540U)

#if PORT_BAUD == 9600
#define UART_BAUDRATE_VALUE 0x00275000U
#elif PORT_BAUD == 115200
#define UART_BAUDRATE_VALUE 0x01D7E000U
#elif PORT_BAUD == 921600
#define UART_BAUDRATE_VALUE 0x0EBEDFA4U
#else
#error "this port knows the dividers for 9600, 115200 and 921600 baud"
#endif

/* The RC oscillator runs at the same nominal frequency, so nothing is lost without the crystal. */
uint32_t board_clock_init(void) {
    CLOCK_HFCLKSTART = 1;
    (void)wait_for(&CLOCK_HFCLKSTARTED, 1, 1);
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    GPIO_OUTSET = 1U << PIN_TX;
    GPIO_DIRSET = 1U << PIN_TX;
    GPIO_PIN_CNF_RX = GPIO_INPUT_PULL_UP;
    UART_PSELTXD = PIN_TX;
    UART_PSELRXD = PIN_RX;
    UART_BAUDRATE = UART_BAUDRATE_VALUE;
    UART_ENABLE = UART_ENABLE_ON;
    UART_RXDRDY = 0;
    UART_STARTTX = 1;
    UART_STARTRX = 1;
}

void board_put(char byte) {
    UART_TXDRDY = 0;
    UART_TXD = (uint8_t)byte;
    while (UART_TXDRDY == 0U) {
    }
}

/* Clearing the event before reading lets the next byte of the receive FIFO raise it again. */
int board_get(void) {
    if (UART_RXDRDY == 0U) {
        return -1;
    }
    UART_RXDRDY = 0;
    return (int)(UART_RXD & 0xFFU);
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
