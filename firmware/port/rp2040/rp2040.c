/* RP2040 on a Raspberry Pi Pico: 125 MHz from the crystal, console on UART0 (GPIO0, GPIO1).  The
 * second core stays in the boot ROM.
 *
 * Source: RP2040 datasheet 2.14 (resets), 2.15 (clocks), 2.16 (XOSC), 2.18 (PLL), 2.19 (GPIO),
 * 4.2 (UART).
 * Polls XOSC STATUS (bit 31), RESETS RESET_DONE, PLL_SYS CS (bit 31), CLK_REF_SELECTED,
 * CLK_SYS_SELECTED, UARTFR (bits 4 and 5). */
#include "board_config.h"
#include "board_io.h"
#include "registers.h"

#define ROSC_HZ 6500000U /* nominal; between 1.8 and 12 MHz */
#define XOSC_HZ 12000000U

#define CLEAR_BITS 0x3000U /* writing to a register's address plus this clears bits */

#define RESETS_RESET_CLEAR REG32(0x4000C000U + CLEAR_BITS)
#define RESETS_RESET_DONE REG32(0x4000C008U)
#define RESETS_IO_BANK0 (1U << 5)
#define RESETS_PADS_BANK0 (1U << 8)
#define RESETS_PLL_SYS (1U << 12)
#define RESETS_UART0 (1U << 22)

#define XOSC_CTRL REG32(0x40024000U)
#define XOSC_CTRL_ENABLE 0x00FABAA0U /* 1 to 15 MHz */
#define XOSC_STATUS REG32(0x40024004U)
#define XOSC_STATUS_STABLE (1U << 31)
#define XOSC_STARTUP REG32(0x4002400CU)
#define XOSC_STARTUP_1MS 47U /* in 256 crystal periods */

#define PLL_CS REG32(0x40028000U)
#define PLL_CS_LOCK (1U << 31)
#define PLL_PWR_CLEAR REG32(0x40028004U + CLEAR_BITS)
#define PLL_PWR_PD (1U << 0)
#define PLL_PWR_POSTDIVPD (1U << 3)
#define PLL_PWR_VCOPD (1U << 5)
#define PLL_FBDIV REG32(0x40028008U)
#define PLL_PRIM REG32(0x4002800CU)
#define PLL_PRIM_6_2 (6U << 16 | 2U << 12)

#define CLK_REF_CTRL REG32(0x40008030U)
#define CLK_REF_XOSC 2U
#define CLK_REF_SELECTED REG32(0x40008038U)
#define CLK_SYS_CTRL REG32(0x4000803CU)
#define CLK_SYS_AUX 1U /* auxiliary source 0 is PLL_SYS */
#define CLK_SYS_SELECTED REG32(0x40008044U)
#define CLK_PERI_CTRL REG32(0x40008048U)
#define CLK_PERI_ENABLE (1U << 11) /* from clk_sys */

#define GPIO0_CTRL REG32(0x40014004U)
#define GPIO1_CTRL REG32(0x4001400CU)
#define GPIO_FUNCTION_UART 2U

#define UART_DR REG32(0x40034000U)
#define UART_FR REG32(0x40034018U)
#define UART_FR_RXFE (1U << 4)
#define UART_FR_TXFF (1U << 5)
#define UART_IBRD REG32(0x40034024U)
#define UART_FBRD REG32(0x40034028U)
#define UART_LCR_H REG32(0x4003402CU)
#define UART_LCR_H_FIFO_8BITS (1U << 4 | 3U << 5)
#define UART_CR REG32(0x40034030U)
#define UART_CR_ENABLE (1U << 0 | 1U << 8 | 1U << 9)

static bool release(uint32_t blocks) {
    RESETS_RESET_CLEAR = blocks;
    return wait_for(&RESETS_RESET_DONE, blocks, blocks);
}

/* The reference clock changes glitch-free; CLK_*_SELECTED shows one bit per source. */
static bool start_crystal(void) {
    XOSC_STARTUP = XOSC_STARTUP_1MS;
    XOSC_CTRL = XOSC_CTRL_ENABLE;
    if (!wait_for(&XOSC_STATUS, XOSC_STATUS_STABLE, XOSC_STATUS_STABLE)) {
        return false;
    }
    CLK_REF_CTRL = CLK_REF_XOSC;
    return wait_for(&CLK_REF_SELECTED, 1U << CLK_REF_XOSC, 1U << CLK_REF_XOSC);
}

/* 12 MHz * 125 / 6 / 2 = 125 MHz. */
static bool start_pll(void) {
    if (!release(RESETS_PLL_SYS)) {
        return false;
    }
    PLL_CS = 1; /* input divided by 1 */
    PLL_FBDIV = 125;
    PLL_PWR_CLEAR = PLL_PWR_PD | PLL_PWR_VCOPD;
    if (!wait_for(&PLL_CS, PLL_CS_LOCK, PLL_CS_LOCK)) {
        return false;
    }
    PLL_PRIM = PLL_PRIM_6_2;
    PLL_PWR_CLEAR = PLL_PWR_POSTDIVPD;
    CLK_SYS_CTRL = CLK_SYS_AUX;
    return wait_for(&CLK_SYS_SELECTED, 1U << CLK_SYS_AUX, 1U << CLK_SYS_AUX);
}

uint32_t board_clock_init(void) {
    if (!start_crystal()) {
        return ROSC_HZ;
    }
    return start_pll() ? PORT_CLOCK_HZ : XOSC_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)release(RESETS_IO_BANK0 | RESETS_PADS_BANK0 | RESETS_UART0);
    CLK_PERI_CTRL = CLK_PERI_ENABLE;
    const uint32_t divider = (clock_hz * 4U + PORT_BAUD / 2U) / PORT_BAUD; /* in 1/64 */
    UART_IBRD = divider / 64U;
    UART_FBRD = divider % 64U;
    UART_LCR_H = UART_LCR_H_FIFO_8BITS;
    UART_CR = UART_CR_ENABLE;
    GPIO0_CTRL = GPIO_FUNCTION_UART;
    GPIO1_CTRL = GPIO_FUNCTION_UART;
}

void board_put(char byte) {
    while ((UART_FR & UART_FR_TXFF) != 0U) {
    }
    UART_DR = (uint8_t)byte;
}

int board_get(void) {
    if ((UART_FR & UART_FR_RXFE) != 0U) {
        return -1;
    }
    return (int)(UART_DR & 0xFFU);
}
