/* STM32L4R5 on a Nucleo-144: 120 MHz from HSI16, console on LPUART1 (PG7, PG8).
 *
 * Source: RM0432 3.3.3 (wait states), 5.1.8 (range 1 boost mode), 5.1.3 (VDDIO2), 6.4 (RCC), 51.8;
 * DS12023 table 17 (alternate functions); UM2179 6.9.
 * Polls, beside drivers/: RCC_CR.HSIRDY (bit 10), PLLRDY (bit 25), FLASH_ACR.LATENCY (read back),
 * RCC_CFGR.SWS (bits 3:2 = 3). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_gpio.h"
#include "stm32_usart_v2.h"

#define MSI_HZ 4000000U
#define HSI_HZ 16000000U

#define FLASH_ACR REG32(0x40022000U)
#define FLASH_ACR_LATENCY_MASK 0xFU
#define FLASH_ACR_PRFTEN (1U << 8)
#define FLASH_ACR_ICEN (1U << 9)
#define FLASH_ACR_DCEN (1U << 10)

#define PWR_CR2 REG32(0x40007004U)
#define PWR_CR2_IOSV (1U << 9) /* VDDIO2, the supply of port G, is there */
#define PWR_CR5 REG32(0x40007080U)
#define PWR_CR5_R1MODE (1U << 8)

#define RCC_CR REG32(0x40021000U)
#define RCC_CR_HSION (1U << 8)
#define RCC_CR_HSIRDY (1U << 10)
#define RCC_CR_PLLON (1U << 24)
#define RCC_CR_PLLRDY (1U << 25)
#define RCC_CFGR REG32(0x40021008U)
#define RCC_CFGR_SW_MASK 3U
#define RCC_CFGR_SW_PLL 3U
#define RCC_CFGR_SWS_MASK (3U << 2)
#define RCC_CFGR_SWS_PLL (3U << 2)
#define RCC_CFGR_HPRE_MASK (0xFU << 4)
#define RCC_CFGR_HPRE_DIV2 (8U << 4)
#define RCC_PLLCFGR REG32(0x4002100CU)
#define RCC_PLLCFGR_HSI 2U
#define RCC_PLLCFGR_REN (1U << 24) /* R = 2 */
#define RCC_AHB2ENR REG32(0x4002104CU)
#define RCC_AHB2ENR_GPIOG (1U << 6)
#define RCC_APB1ENR1 REG32(0x40021058U)
#define RCC_APB1ENR1_PWR (1U << 28)
#define RCC_APB1ENR2 REG32(0x4002105CU)
#define RCC_APB1ENR2_LPUART1 (1U << 0)
#define RCC_CCIPR REG32(0x40021088U)
#define RCC_CCIPR_LPUART1_MASK (3U << 10)
#define RCC_CCIPR_LPUART1_HSI (2U << 10)

#define GPIOG 0x48001800U
#define LPUART1 0x40008000U
#define LPUART1_FUNCTION 8U

#define PLL_M 2U
#define PLL_N 30U /* 16 MHz / 2 * 30 / 2 = 120 MHz */
#define WAIT_STATES 5U

static bool start_pll(void) {
    RCC_PLLCFGR = RCC_PLLCFGR_HSI | (PLL_M - 1U) << 4 | PLL_N << 8 | RCC_PLLCFGR_REN;
    RCC_CR |= RCC_CR_PLLON;
    return wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

/* Boost mode wants the first microsecond at half speed. */
static bool switch_to_pll(void) {
    PWR_CR5 &= ~PWR_CR5_R1MODE;
    FLASH_ACR = WAIT_STATES | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN;
    if (!wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_MASK, WAIT_STATES)) {
        return false;
    }
    set_field(&RCC_CFGR, RCC_CFGR_HPRE_MASK, RCC_CFGR_HPRE_DIV2);
    set_field(&RCC_CFGR, RCC_CFGR_SW_MASK, RCC_CFGR_SW_PLL);
    const bool switched = wait_for(&RCC_CFGR, RCC_CFGR_SWS_MASK, RCC_CFGR_SWS_PLL);
    for (volatile uint32_t i = 0; i < PORT_CLOCK_HZ / 1000000U; i++) {
    }
    set_field(&RCC_CFGR, RCC_CFGR_HPRE_MASK, 0);
    return switched;
}

uint32_t board_clock_init(void) {
    RCC_APB1ENR1 |= RCC_APB1ENR1_PWR;
    (void)RCC_APB1ENR1; /* the clock is there two cycles after the write */
    RCC_CR |= RCC_CR_HSION;
    if (!wait_for(&RCC_CR, RCC_CR_HSIRDY, RCC_CR_HSIRDY) || !start_pll() || !switch_to_pll()) {
        return MSI_HZ;
    }
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz; /* LPUART1 runs from HSI16 */
    PWR_CR2 |= PWR_CR2_IOSV;
    RCC_AHB2ENR |= RCC_AHB2ENR_GPIOG;
    RCC_APB1ENR2 |= RCC_APB1ENR2_LPUART1;
    set_field(&RCC_CCIPR, RCC_CCIPR_LPUART1_MASK, RCC_CCIPR_LPUART1_HSI);
    gpio_connect(GPIOG, 7, LPUART1_FUNCTION);
    gpio_connect(GPIOG, 8, LPUART1_FUNCTION);
    usart_init(LPUART1, 256U * HSI_HZ / PORT_BAUD);
}

void board_put(char byte) {
    usart_put(LPUART1, byte);
}

int board_get(void) {
    return usart_get(LPUART1);
}
