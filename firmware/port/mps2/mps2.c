/* Arm MPS2 FPGA boards, as QEMU models them: the clock runs, the CMSDK UART is the console.
 *
 * Source: Arm DDI 0479 (Cortex-M System Design Kit TRM) 4.3 APB UART; application notes AN385,
 * AN386, AN500, AN505, memory map. */
#include "board_config.h"
#include "board_io.h"
#include "registers.h"

#define UART_DATA REG32(PORT_UART_BASE + 0x0U)
#define UART_STATE REG32(PORT_UART_BASE + 0x4U)
#define UART_STATE_TX_FULL (1U << 0)
#define UART_STATE_RX_FULL (1U << 1)
#define UART_CTRL REG32(PORT_UART_BASE + 0x8U)
#define UART_CTRL_TX_ENABLE (1U << 0)
#define UART_CTRL_RX_ENABLE (1U << 1)
#define UART_BAUDDIV REG32(PORT_UART_BASE + 0x10U)

uint32_t board_clock_init(void) {
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    UART_BAUDDIV = clock_hz / PORT_BAUD;
    UART_CTRL = UART_CTRL_TX_ENABLE | UART_CTRL_RX_ENABLE;
}

void board_put(char byte) {
    while ((UART_STATE & UART_STATE_TX_FULL) != 0U) {
    }
    UART_DATA = (uint8_t)byte;
}

int board_get(void) {
    if ((UART_STATE & UART_STATE_RX_FULL) == 0U) {
        return -1;
    }
    return (int)(UART_DATA & 0xFFU);
}
