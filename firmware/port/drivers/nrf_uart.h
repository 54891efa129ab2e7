/* The UART of the nRF51 and nRF52, without DMA, at 0x40002000.
 *
 * Source: nRF51 Series Reference Manual v3.0 chapter 29; nRF52840 Product Specification v1.7 6.33.
 * Polls TXDRDY and RXDRDY (events, 1 when they happened). */
#ifndef EDGEC_DRIVERS_NRF_UART_H
#define EDGEC_DRIVERS_NRF_UART_H

#include "board_config.h"
#include "registers.h"

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

#define GPIO_OUTSET 0x508U
#define GPIO_DIRSET 0x518U
#define GPIO_PIN_CNF 0x700U
#define GPIO_INPUT_PULL_UP (3U << 2)

#if PORT_BAUD == 9600
#define UART_BAUDRATE_VALUE 0x00275000U
#elif PORT_BAUD == 115200
#define UART_BAUDRATE_VALUE 0x01D7E000U
#elif PORT_BAUD == 921600
#define UART_BAUDRATE_VALUE UART_BAUDRATE_921600 /* the chip's own */
#else
#error "this driver knows the dividers for 9600, 115200 and 921600 baud"
#endif

/* Pins are numbered through the ports: 32 a port.  `gpio` is the base of the port of both pins. */
static inline void uart_start(uint32_t gpio, uint32_t tx, uint32_t rx) {
    REG32(gpio + GPIO_OUTSET) = 1U << tx % 32U;
    REG32(gpio + GPIO_DIRSET) = 1U << tx % 32U;
    REG32(gpio + GPIO_PIN_CNF + 4U * (rx % 32U)) = GPIO_INPUT_PULL_UP;
    UART_PSELTXD = tx;
    UART_PSELRXD = rx;
    UART_BAUDRATE = UART_BAUDRATE_VALUE;
    UART_ENABLE = UART_ENABLE_ON;
    UART_RXDRDY = 0;
    UART_STARTTX = 1;
    UART_STARTRX = 1;
}

static inline void uart_put(char byte) {
    UART_TXDRDY = 0;
    UART_TXD = (uint8_t)byte;
    while (UART_TXDRDY == 0U) {
    }
}

/* Clearing the event before reading lets the next byte of the receive FIFO raise it again. */
static inline int uart_get(void) {
    if (UART_RXDRDY == 0U) {
        return -1;
    }
    UART_RXDRDY = 0;
    return (int)(UART_RXD & 0xFFU);
}

#endif
