/* RCC and flash registers that STM32H743 and H7A3 share: PLL1 on HSI, and the switch to it.
 * Polls RCC_CR.PLL1RDY (bit 25), FLASH_ACR.LATENCY (read back), RCC_CFGR.SWS (bits 5:3 = 3).
 *
 * Source: RM0433 and RM0455, chapters FLASH, PWR and RCC (registers). */
#ifndef EDGEC_DRIVERS_STM32_CLOCK_H7_H
#define EDGEC_DRIVERS_STM32_CLOCK_H7_H

#include "registers.h"

#define HSI_HZ 64000000U

#define FLASH_ACR REG32(0x52002000U)
#define FLASH_ACR_LATENCY_MASK 0xFU

#define PWR_CSR1 REG32(0x58024804U)
#define PWR_CSR1_ACTVOSRDY (1U << 13)
#define PWR_CR3 REG32(0x5802480CU)
#define PWR_CR3_BYPASS (1U << 0)
#define PWR_CR3_LDOEN (1U << 1)

#define RCC_CR REG32(0x58024400U)
#define RCC_CR_PLL1ON (1U << 24)
#define RCC_CR_PLL1RDY (1U << 25)
#define RCC_CFGR REG32(0x58024410U)
#define RCC_CFGR_SW_MASK 7U
#define RCC_CFGR_SW_PLL1 3U
#define RCC_CFGR_SWS_MASK (7U << 3)
#define RCC_CFGR_SWS_PLL1 (3U << 3)
#define RCC_PLLCKSELR REG32(0x58024428U)
#define RCC_PLLCKSELR_DIVM1_MASK (0x3FU << 4)
#define RCC_PLLCFGR REG32(0x5802442CU)
#define RCC_PLLCFGR_PLL1_MASK 0xFU
#define RCC_PLLCFGR_RGE_8_16 (3U << 2) /* input between 8 and 16 MHz, wide VCO range */
#define RCC_PLLCFGR_DIVP1EN (1U << 16)
#define RCC_PLL1DIVR REG32(0x58024430U)

#define PLL_M 8U
#define PLL_P 2U
#define PLL_UNUSED 2U /* Q and R are not used, but must not be 0 */

/* Start PLL1 on HSI: 64 MHz / 8 * n / 2 = 4 n MHz.  False when it does not lock. */
static inline bool clock_start_pll(uint32_t n) {
    set_field(&RCC_PLLCKSELR, RCC_PLLCKSELR_DIVM1_MASK | 3U, PLL_M << 4); /* source: HSI */
    set_field(&RCC_PLLCFGR, RCC_PLLCFGR_PLL1_MASK, RCC_PLLCFGR_RGE_8_16 | RCC_PLLCFGR_DIVP1EN);
    RCC_PLL1DIVR = (n - 1U) | (PLL_P - 1U) << 9 | (PLL_UNUSED - 1U) << 16 | (PLL_UNUSED - 1U) << 24;
    RCC_CR |= RCC_CR_PLL1ON;
    return wait_for(&RCC_CR, RCC_CR_PLL1RDY, RCC_CR_PLL1RDY);
}

/* Set the flash for the new clock.  False when it keeps its old wait states. */
static inline bool clock_set_flash(uint32_t wait_states, uint32_t options) {
    FLASH_ACR = wait_states | options;
    return wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_MASK, wait_states);
}

/* Run from PLL1.  False when the core stays on HSI. */
static inline bool clock_select_pll(void) {
    set_field(&RCC_CFGR, RCC_CFGR_SW_MASK, RCC_CFGR_SW_PLL1);
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_MASK, RCC_CFGR_SWS_PLL1);
}

#endif
