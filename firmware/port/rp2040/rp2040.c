/* RP2040 on a Raspberry Pi Pico: 125 MHz from the crystal, console on UART0 (GPIO0, GPIO1).  The
 * second core stays in the boot ROM.
 *
 * Source: RP2040 datasheet 2.2 (address map), 2.14 (resets), 2.18 (PLL). */
#include "board_io.h"

#define ROSC_HZ 6500000U /* nominal; between 1.8 and 12 MHz */

#define RESETS 0x4000C000U
#define XOSC 0x40024000U
#define PLL_SYS 0x40028000U
#define CLOCKS 0x40008000U
#define IO_BANK0 0x40014000U
#define UART0 0x40034000U

#define RESETS_IO_BANK0 (1U << 5)
#define RESETS_PADS_BANK0 (1U << 8)
#define RESETS_PLL_SYS (1U << 12)
#define RESETS_UART0 (1U << 22)

#define PLL_FBDIV 125U /* 12 MHz * 125 / 6 / 2 = 125 MHz */
#define PLL_POSTDIV1 6U
#define PLL_POSTDIV2 2U

#include "rp2.h"

uint32_t board_clock_init(void) {
    return rp2_start_clocks(ROSC_HZ);
}

void board_console_init(uint32_t clock_hz) {
    rp2_console_init(clock_hz);
}

void board_put(char byte) {
    rp2_put(byte);
}

int board_get(void) {
    return rp2_get();
}
