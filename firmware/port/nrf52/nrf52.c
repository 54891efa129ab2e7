/* nRF52840 on an Arduino Nano 33 BLE: 64 MHz from the crystal, instruction cache on, console on
 * P1.03 (TX) and P1.10 (RX), the board's pins TX and RX.  The program starts after the board's
 * boot loader, which stays.
 *
 * Source: nRF52840 Product Specification v1.7, 4.3 (NVMC), 5.4 (CLOCK), 6.9 (GPIO); Arduino Nano 33
 * BLE (ABX00030) schematic.
 * Polls, beside drivers/: CLOCK HFCLKSTARTED. */
#include "board_config.h"
#include "board_io.h"

#define UART_BAUDRATE_921600 0x0F000000U
#include "nrf_uart.h"
#include "registers.h"

#define CLOCK_HFCLKSTART REG32(0x40000000U)
#define CLOCK_HFCLKSTARTED REG32(0x40000100U)

#define NVMC_ICACHECNF REG32(0x4001E540U)
#define NVMC_ICACHECNF_CACHEEN 1U

#define GPIO_P1 0x50000300U
#define PIN_TX 35U
#define PIN_RX 42U

/* The RC oscillator runs at the same nominal frequency, so nothing is lost without the crystal. */
uint32_t board_clock_init(void) {
    NVMC_ICACHECNF = NVMC_ICACHECNF_CACHEEN;
    CLOCK_HFCLKSTART = 1;
    (void)wait_for(&CLOCK_HFCLKSTARTED, 1, 1);
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    uart_start(GPIO_P1, PIN_TX, PIN_RX);
}

void board_put(char byte) {
    uart_put(byte);
}

int board_get(void) {
    return uart_get();
}
