/* RCC and flash registers that STM32F2, F4 and F7 share, and the switch to the PLL.
 * Polls RCC_CR.PLLRDY (bit 25), FLASH_ACR.LATENCY (read back) and RCC_CFGR.SWS (bits 3:2 = 2).
 *
 * Source: RM0033 3.4.1, 5.3; RM0390 3.8.1, 6.3; RM0090 3.9.1, 7.3; RM0410 3.7.1,
 * 5.3. */
#ifndef EDGEC_DRIVERS_STM32_CLOCK_V1_H
#define EDGEC_DRIVERS_STM32_CLOCK_V1_H

#include "registers.h"

#define HSI_HZ 16000000U

#define FLASH_ACR REG32(0x40023C00U)
#define FLASH_ACR_LATENCY_MASK 0xFU
#define FLASH_ACR_PRFTEN (1U << 8)
#define FLASH_ACR_ICEN (1U << 9)
#define FLASH_ACR_DCEN (1U << 10)
#define FLASH_ACR_ACCELERATOR (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)

#define RCC_CR REG32(0x40023800U)
#define RCC_CR_PLLON (1U << 24)
#define RCC_CR_PLLRDY (1U << 25)
#define RCC_PLLCFGR REG32(0x40023804U)
#define RCC_PLLCFGR_P2 (0U << 16)
#define RCC_CFGR REG32(0x40023808U)
#define RCC_CFGR_SW_MASK 3U
#define RCC_CFGR_SW_PLL 2U
#define RCC_CFGR_SWS_MASK (3U << 2)
#define RCC_CFGR_SWS_PLL (2U << 2)
#define RCC_CFGR_PPRE1_DIV4 (5U << 10)
#define RCC_CFGR_PPRE2_DIV2 (4U << 13)
#define RCC_AHB1ENR REG32(0x40023830U)
#define RCC_APB1ENR REG32(0x40023840U)

/* Start the PLL on HSI: 16 MHz / 8 * n / 2 = n MHz.  False when it does not lock. */
static inline bool clock_start_pll(uint32_t n) {
    const uint32_t m = 8;
    const uint32_t q = 8;
    const uint32_t r = 2; /* F446 and F7 have it; reserved and reset to this elsewhere */
    RCC_PLLCFGR = m | n << 6 | RCC_PLLCFGR_P2 | q << 24 | r << 28;
    RCC_CR |= RCC_CR_PLLON;
    return wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

/* Set the flash for the new clock, then run from the PLL: APB1 at a quarter, APB2 at half.  False
 * when the core stays on HSI. */
static inline bool clock_switch_to_pll(uint32_t wait_states, uint32_t flash_options) {
    FLASH_ACR = wait_states | flash_options;
    if (!wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_MASK, wait_states)) {
        return false;
    }
    RCC_CFGR = RCC_CFGR_PPRE1_DIV4 | RCC_CFGR_PPRE2_DIV2;
    set_field(&RCC_CFGR, RCC_CFGR_SW_MASK, RCC_CFGR_SW_PLL);
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_MASK, RCC_CFGR_SWS_PLL);
}

#endif
