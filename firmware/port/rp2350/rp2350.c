/* RP2350 on a Raspberry Pi Pico 2: 150 MHz from the crystal on a Cortex-M33, console on UART0
 * (GPIO0, GPIO1).  The second core and the RISC-V cores stay off.  The boot ROM has found out how
 * the flash can be read, and has left it so.
 *
 * Source: RP2350 datasheet 2.2 (address map), 5.9.5 (blocks of a minimum image), 7.5 (resets),
 * 8.6 (PLL), 9.11.3 (pads). */
#include <stdint.h>

#include "board_io.h"

#define ROSC_HZ 11000000U /* nominal; between 4.6 and 19.6 MHz */

#define RESETS 0x40020000U
#define XOSC 0x40048000U
#define PLL_SYS 0x40050000U
#define CLOCKS 0x40010000U
#define IO_BANK0 0x40028000U
#define UART0 0x40070000U

#define RESETS_IO_BANK0 (1U << 6)
#define RESETS_PADS_BANK0 (1U << 9)
#define RESETS_PLL_SYS (1U << 14)
#define RESETS_UART0 (1U << 26)

#define PLL_FBDIV 125U /* 12 MHz * 125 / 5 / 2 = 150 MHz */
#define PLL_POSTDIV1 5U
#define PLL_POSTDIV2 2U

#include "rp2.h"

#define PADS_BANK0_GPIO0 REG32(0x40038004U)
#define PADS_BANK0_GPIO1 REG32(0x40038008U)
#define PAD_CONNECTED 0x5AU /* input on, 4 mA, pull-up, Schmitt trigger; isolation off */

#define BLOCK_START 0xFFFFDED3U
#define ITEM_IMAGE_ARM_SECURE 0x10210142U
#define ITEM_VECTOR_TABLE 0x00000203U
#define VECTOR_TABLE 0x10000100U
#define ITEM_LAST_AFTER_3_WORDS 0x000003FFU
#define BLOCK_NEXT_IS_SELF 0U
#define BLOCK_END 0xAB123579U

/* The 256 bytes before the vector table: what the boot ROM looks for in the first 4 KB. */
__attribute__((section(".boot"), used)) static const uint32_t boot_block[64] = {
    BLOCK_START,  ITEM_IMAGE_ARM_SECURE,   ITEM_VECTOR_TABLE,
    VECTOR_TABLE, ITEM_LAST_AFTER_3_WORDS, BLOCK_NEXT_IS_SELF,
    BLOCK_END,
};

uint32_t board_clock_init(void) {
    return rp2_start_clocks(ROSC_HZ);
}

void board_console_init(uint32_t clock_hz) {
    rp2_console_init(clock_hz);
    PADS_BANK0_GPIO0 = PAD_CONNECTED;
    PADS_BANK0_GPIO1 = PAD_CONNECTED;
}

void board_put(char byte) {
    rp2_put(byte);
}

int board_get(void) {
    return rp2_get();
}
