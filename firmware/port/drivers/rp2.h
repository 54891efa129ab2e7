/* Common parts of RP2040 and RP2350: resets, crystal, system PLL, clock multiplexers and a
 * PL011 as console on GPIO0 (TX) and GPIO1 (RX).  The port defines before it includes this file:
 * RESETS, XOSC, PLL_SYS, CLOCKS, IO_BANK0, UART0: bases; RESETS_IO_BANK0, RESETS_PADS_BANK0,
 * RESETS_PLL_SYS, RESETS_UART0: bits of blocks; PLL_FBDIV and PLL_POSTDIV1, 2: dividers of the PLL.
 *
 * Source: RP2040 datasheet 2.14 (resets), 2.15 (clocks), 2.16 (XOSC), 2.18 (PLL), 2.19 (GPIO),
 * 4.2 (UART); RP2350 datasheet 7.5, 8.1, 8.2, 8.6, 9.11, 12.1.
 * Polls XOSC STATUS (bit 31), RESETS RESET_DONE, PLL_SYS CS (bit 31), CLK_REF_SELECTED,
 * CLK_SYS_SELECTED, UARTFR (bits 4 and 5). */
#ifndef EDGEC_DRIVERS_RP2_H
#define EDGEC_DRIVERS_RP2_H

#include "board_config.h"
#include "registers.h"

#define XOSC_HZ 12000000U

#define CLEAR_BITS 0x3000U /* writing to a register's address plus this clears bits */

#define RESETS_RESET_CLEAR REG32(RESETS + CLEAR_BITS)
#define RESETS_RESET_DONE REG32(RESETS + 0x08U)

#define XOSC_CTRL REG32(XOSC)
#define XOSC_CTRL_ENABLE 0x00FABAA0U /* 1 to 15 MHz */
#define XOSC_STATUS REG32(XOSC + 0x04U)
#define XOSC_STATUS_STABLE (1U << 31)
#define XOSC_STARTUP REG32(XOSC + 0x0CU)
#define XOSC_STARTUP_1MS 47U /* in 256 crystal periods */

#define PLL_CS REG32(PLL_SYS)
#define PLL_CS_LOCK (1U << 31)
#define PLL_PWR_CLEAR REG32(PLL_SYS + 0x04U + CLEAR_BITS)
#define PLL_PWR_PD (1U << 0)
#define PLL_PWR_POSTDIVPD (1U << 3)
#define PLL_PWR_VCOPD (1U << 5)
#define PLL_FBDIV_INT REG32(PLL_SYS + 0x08U)
#define PLL_PRIM REG32(PLL_SYS + 0x0CU)

#define CLK_REF_CTRL REG32(CLOCKS + 0x30U)
#define CLK_REF_XOSC 2U
#define CLK_REF_SELECTED REG32(CLOCKS + 0x38U)
#define CLK_SYS_CTRL REG32(CLOCKS + 0x3CU)
#define CLK_SYS_AUX 1U /* auxiliary source 0 is PLL_SYS */
#define CLK_SYS_SELECTED REG32(CLOCKS + 0x44U)
#define CLK_PERI_CTRL REG32(CLOCKS + 0x48U)
#define CLK_PERI_ENABLE (1U << 11) /* from clk_sys */

#define GPIO0_CTRL REG32(IO_BANK0 + 0x04U)
#define GPIO1_CTRL REG32(IO_BANK0 + 0x0CU)
#define GPIO_FUNCTION_UART 2U

#define UART_DR REG32(UART0)
#define UART_FR REG32(UART0 + 0x18U)
#define UART_FR_RXFE (1U << 4)
#define UART_FR_TXFF (1U << 5)
#define UART_IBRD REG32(UART0 + 0x24U)
#define UART_FBRD REG32(UART0 + 0x28U)
#define UART_LCR_H REG32(UART0 + 0x2CU)
#define UART_LCR_H_FIFO_8BITS (1U << 4 | 3U << 5)
#define UART_CR REG32(UART0 + 0x30U)
#define UART_CR_ENABLE (1U << 0 | 1U << 8 | 1U << 9)

static bool rp2_release(uint32_t blocks) {
    RESETS_RESET_CLEAR = blocks;
    return wait_for(&RESETS_RESET_DONE, blocks, blocks);
}

/* The reference clock changes glitch-free; CLK_*_SELECTED shows one bit per source. */
static bool rp2_start_crystal(void) {
    XOSC_STARTUP = XOSC_STARTUP_1MS;
    XOSC_CTRL = XOSC_CTRL_ENABLE;
    if (!wait_for(&XOSC_STATUS, XOSC_STATUS_STABLE, XOSC_STATUS_STABLE)) {
        return false;
    }
    CLK_REF_CTRL = CLK_REF_XOSC;
    return wait_for(&CLK_REF_SELECTED, 1U << CLK_REF_XOSC, 1U << CLK_REF_XOSC);
}

/* 12 MHz * PLL_FBDIV / PLL_POSTDIV1 / PLL_POSTDIV2. */
static bool rp2_start_pll(void) {
    if (!rp2_release(RESETS_PLL_SYS)) {
        return false;
    }
    PLL_CS = 1; /* input divided by 1 */
    PLL_FBDIV_INT = PLL_FBDIV;
    PLL_PWR_CLEAR = PLL_PWR_PD | PLL_PWR_VCOPD;
    if (!wait_for(&PLL_CS, PLL_CS_LOCK, PLL_CS_LOCK)) {
        return false;
    }
    PLL_PRIM = PLL_POSTDIV1 << 16 | PLL_POSTDIV2 << 12;
    PLL_PWR_CLEAR = PLL_PWR_POSTDIVPD;
    CLK_SYS_CTRL = CLK_SYS_AUX;
    return wait_for(&CLK_SYS_SELECTED, 1U << CLK_SYS_AUX, 1U << CLK_SYS_AUX);
}

/* The core clock that is reached; `reset_hz` is that of the ring oscillator. */
static inline uint32_t rp2_start_clocks(uint32_t reset_hz) {
    if (!rp2_start_crystal()) {
        return reset_hz;
    }
    return rp2_start_pll() ? PORT_CLOCK_HZ : XOSC_HZ;
}

static inline void rp2_console_init(uint32_t clock_hz) {
    (void)rp2_release(RESETS_IO_BANK0 | RESETS_PADS_BANK0 | RESETS_UART0);
    CLK_PERI_CTRL = CLK_PERI_ENABLE;
    const uint32_t divider = (clock_hz * 4U + PORT_BAUD / 2U) / PORT_BAUD; /* in 1/64 */
    UART_IBRD = divider / 64U;
    UART_FBRD = divider % 64U;
    UART_LCR_H = UART_LCR_H_FIFO_8BITS;
    UART_CR = UART_CR_ENABLE;
    GPIO0_CTRL = GPIO_FUNCTION_UART;
    GPIO1_CTRL = GPIO_FUNCTION_UART;
}

static inline void rp2_put(char byte) {
    while ((UART_FR & UART_FR_TXFF) != 0U) {
    }
    UART_DR = (uint8_t)byte;
}

static inline int rp2_get(void) {
    if ((UART_FR & UART_FR_RXFE) != 0U) {
        return -1;
    }
    return (int)(UART_DR & 0xFFU);
}

#endif
