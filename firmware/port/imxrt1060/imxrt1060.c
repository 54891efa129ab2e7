/* i.MX RT1062 on a Teensy 4.1: 600 MHz from the crystal, caches on, console on LPUART6 (pins 1 and
 * 0 of the board).
 *
 * Source: IMXRT1060RM rev. 3: 9.6 and 9.7 (boot), 11.6 (IOMUXC), 14.7 (CCM), 14.8 (PLLs), 18.7
 * (DCDC), 49.4 (LPUART); IMXRT1060CEC table 10 (1.25 V for 600 MHz); schematic of the Teensy 4.1.
 * Polls DCDC_REG0 (bit 31), PLL_ARM (bit 31), CCM_CDHIPR = 0, LPUART STAT (bits 23 and 21). */
#include "board_config.h"
#include "board_io.h"
#include "registers.h"

#define DCACHE_SETS 256U
#include "cortex_m7_caches.h"

#define OSCILLATOR_HZ 24000000U

#define DCDC_REG0 REG32(0x40080000U)
#define DCDC_REG0_STS_DC_OK (1U << 31)
#define DCDC_REG3 REG32(0x4008000CU)
#define DCDC_REG3_TRG_MASK 0x1FU
#define DCDC_REG3_TRG_1V25 18U /* 0.8 V + 18 * 25 mV */

#define PLL_ARM REG32(0x400D8000U)
#define PLL_ARM_LOCK (1U << 31)
#define PLL_ARM_BYPASS (1U << 16)
#define PLL_ARM_ENABLE (1U << 13)
#define PLL_ARM_DIVIDER 100U /* 24 MHz * 100 / 2 = 1200 MHz */

#define CCM_CACRR REG32(0x400FC010U)
#define CCM_CACRR_ARM_PODF_2 1U
#define CCM_CBCDR REG32(0x400FC014U)
#define CCM_CBCDR_PERIPH_CLK_SEL (1U << 25)
#define CCM_CBCDR_PERIPH_CLK2_PODF (7U << 27)
#define CCM_CBCDR_AHB_PODF (7U << 10)
#define CCM_CBCDR_IPG_PODF (3U << 8)
#define CCM_CBCDR_IPG_PODF_4 (3U << 8)
#define CCM_CBCMR REG32(0x400FC018U)
#define CCM_CBCMR_PRE_PERIPH_CLK_SEL (3U << 18)
#define CCM_CBCMR_PRE_PERIPH_CLK_ARM (3U << 18)
#define CCM_CBCMR_PERIPH_CLK2_SEL (3U << 12)
#define CCM_CBCMR_PERIPH_CLK2_OSC (1U << 12)
#define CCM_CSCDR1 REG32(0x400FC024U)
#define CCM_CSCDR1_UART_CLK_OSC (1U << 6)
#define CCM_CSCDR1_UART_CLK_PODF 0x3FU
#define CCM_CDHIPR REG32(0x400FC048U)
#define CCM_CDHIPR_BUSY 0x1002AU /* ARM_PODF, PERIPH_CLK_SEL, PERIPH2_CLK_SEL, AHB_PODF */
#define CCM_CCGR3 REG32(0x400FC074U)
#define CCM_CCGR3_LPUART6 (3U << 6)

#define IOMUXC_MUX_AD_B0_02 REG32(0x401F80C4U)
#define IOMUXC_MUX_AD_B0_03 REG32(0x401F80C8U)
#define IOMUXC_MUX_LPUART6 2U
#define IOMUXC_LPUART6_RX_SELECT REG32(0x401F8550U)
#define IOMUXC_LPUART6_RX_AD_B0_03 1U

#define LPUART6_BAUD REG32(0x40198010U)
#define LPUART_OVERSAMPLING 26U /* 24 MHz / 26 is near 921600 and what divides it */
#define LPUART_BAUD_OSR ((LPUART_OVERSAMPLING - 1U) << 24)
#define LPUART6_STAT REG32(0x40198014U)
#define LPUART_STAT_TDRE (1U << 23)
#define LPUART_STAT_RDRF (1U << 21)
#define LPUART_STAT_OR (1U << 19)
#define LPUART6_CTRL REG32(0x40198018U)
#define LPUART_CTRL_TE_RE (3U << 18)
#define LPUART6_DATA REG32(0x4019801CU)

#define MPU_CTRL REG32(0xE000ED94U)
#define MPU_CTRL_ENABLE_WITH_DEFAULT_MAP 5U
#define MPU_RNR REG32(0xE000ED98U)
#define MPU_RBAR REG32(0xE000ED9CU)
#define MPU_RASR REG32(0xE000EDA0U)
#define MPU_RASR_512MB_NO_ACCESS (1U << 28 | 28U << 1 | 1U)
#define SEMC_MEMORY 0x80000000U

/* The core may read ahead from what the default map calls memory; at the SEMC's, which this board
 * does not have, that read would never end. */
static void forbid_external_memory(void) {
    MPU_RNR = 0;
    MPU_RBAR = SEMC_MEMORY;
    MPU_RASR = MPU_RASR_512MB_NO_ACCESS;
    MPU_CTRL = MPU_CTRL_ENABLE_WITH_DEFAULT_MAP;
    barrier();
}

static bool clock_settled(void) {
    return wait_for(&CCM_CDHIPR, CCM_CDHIPR_BUSY, 0);
}

/* The core runs from the crystal while the PLL that drove it changes. */
static bool run_from_oscillator(void) {
    set_field(&CCM_CBCDR, CCM_CBCDR_PERIPH_CLK2_PODF, 0);
    set_field(&CCM_CBCMR, CCM_CBCMR_PERIPH_CLK2_SEL, CCM_CBCMR_PERIPH_CLK2_OSC);
    CCM_CBCDR |= CCM_CBCDR_PERIPH_CLK_SEL;
    return clock_settled();
}

static bool raise_voltage(void) {
    set_field(&DCDC_REG3, DCDC_REG3_TRG_MASK, DCDC_REG3_TRG_1V25);
    return wait_for(&DCDC_REG0, DCDC_REG0_STS_DC_OK, DCDC_REG0_STS_DC_OK);
}

static bool start_pll(void) {
    PLL_ARM = PLL_ARM_BYPASS | PLL_ARM_ENABLE | PLL_ARM_DIVIDER;
    if (!wait_for(&PLL_ARM, PLL_ARM_LOCK, PLL_ARM_LOCK)) {
        return false;
    }
    PLL_ARM = PLL_ARM_ENABLE | PLL_ARM_DIVIDER;
    CCM_CACRR = CCM_CACRR_ARM_PODF_2;
    set_field(&CCM_CBCDR, CCM_CBCDR_AHB_PODF | CCM_CBCDR_IPG_PODF, CCM_CBCDR_IPG_PODF_4);
    return clock_settled();
}

static bool run_from_pll(void) {
    set_field(&CCM_CBCMR, CCM_CBCMR_PRE_PERIPH_CLK_SEL, CCM_CBCMR_PRE_PERIPH_CLK_ARM);
    CCM_CBCDR &= ~CCM_CBCDR_PERIPH_CLK_SEL;
    return clock_settled();
}

uint32_t board_clock_init(void) {
    forbid_external_memory();
    caches_enable();
    if (!run_from_oscillator() || !raise_voltage() || !start_pll() || !run_from_pll()) {
        return OSCILLATOR_HZ;
    }
    return PORT_CLOCK_HZ;
}

/* The UART's clock is the crystal's, whatever the core runs at. */
void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    set_field(&CCM_CSCDR1, CCM_CSCDR1_UART_CLK_PODF, CCM_CSCDR1_UART_CLK_OSC);
    CCM_CCGR3 |= CCM_CCGR3_LPUART6;
    IOMUXC_MUX_AD_B0_02 = IOMUXC_MUX_LPUART6;
    IOMUXC_MUX_AD_B0_03 = IOMUXC_MUX_LPUART6;
    IOMUXC_LPUART6_RX_SELECT = IOMUXC_LPUART6_RX_AD_B0_03;
    LPUART6_BAUD =
        LPUART_BAUD_OSR | (OSCILLATOR_HZ / LPUART_OVERSAMPLING + PORT_BAUD / 2U) / PORT_BAUD;
    LPUART6_CTRL = LPUART_CTRL_TE_RE;
}

void board_put(char byte) {
    while ((LPUART6_STAT & LPUART_STAT_TDRE) == 0U) {
    }
    LPUART6_DATA = (uint8_t)byte;
}

/* A byte that came too early sets OR, and nothing is received until it is cleared. */
int board_get(void) {
    const uint32_t status = LPUART6_STAT;
    if ((status & LPUART_STAT_OR) != 0U) {
        LPUART6_STAT = LPUART_STAT_OR;
    }
    if ((status & LPUART_STAT_RDRF) == 0U) {
        return -1;
    }
    return (int)(LPUART6_DATA & 0xFFU);
}
