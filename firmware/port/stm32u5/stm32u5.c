/* STM32U575 on a Nucleo-144: 160 MHz from HSI16, console on USART1 (PA9, PA10).
 *
 * Source: RM0456 7.3.3 (wait states), 10.5.4 (voltage scaling and EPOD booster), 11.8 (RCC), 66.8;
 * UM2861 6.9.
 * Polls, beside drivers/: RCC_CR.HSIRDY (bit 10) and PLL1RDY (bit 25), PWR_VOSR.VOSRDY (bit 15) and
 * BOOSTRDY (bit 14), RCC_CFGR1.SWS (bits 3:2 = 3). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_u3_u5.h"

#define MSI_HZ 4000000U

#define PWR_VOSR REG32(0x4602080CU)
#define PWR_VOSR_BOOSTRDY (1U << 14)
#define PWR_VOSR_VOSRDY (1U << 15)
#define PWR_VOSR_RANGE1 (3U << 16)
#define PWR_VOSR_BOOSTEN (1U << 18)

#define RCC_CR REG32(0x46020C00U)
#define RCC_CR_HSION (1U << 8)
#define RCC_CR_HSIRDY (1U << 10)
#define RCC_CR_PLL1ON (1U << 24)
#define RCC_CR_PLL1RDY (1U << 25)
#define RCC_CFGR1 REG32(0x46020C1CU)
#define RCC_CFGR1_SW_MASK 3U
#define RCC_CFGR1_SW_PLL1 3U
#define RCC_CFGR1_SWS_MASK (3U << 2)
#define RCC_CFGR1_SWS_PLL1 (3U << 2)
#define RCC_PLL1CFGR REG32(0x46020C28U)
#define RCC_PLL1CFGR_HSI 2U             /* M = 1; the booster's divider = 1 */
#define RCC_PLL1CFGR_RGE_8_16 (3U << 2) /* input between 8 and 16 MHz */
#define RCC_PLL1CFGR_REN (1U << 18)
#define RCC_PLL1DIVR REG32(0x46020C34U)
#define RCC_AHB2ENR1 REG32(0x46020C8CU)
#define RCC_AHB2ENR1_GPIOA (1U << 0)
#define RCC_AHB3ENR REG32(0x46020C94U)
#define RCC_AHB3ENR_PWR (1U << 2)
#define RCC_APB2ENR REG32(0x46020CA4U)
#define RCC_APB2ENR_USART1 (1U << 14)

#define PLL_N 20U
#define PLL_R 2U /* 16 MHz * 20 / 2 = 160 MHz; P and Q are not used, but must not be 0 */
#define PLL_UNUSED 2U
#define WAIT_STATES 4U

/* Above 55 MHz range 1 needs the booster, which is clocked by the PLL's source. */
static bool raise_voltage(void) {
    RCC_AHB3ENR |= RCC_AHB3ENR_PWR;
    (void)RCC_AHB3ENR; /* the clock is there two cycles after the write */
    RCC_PLL1CFGR = RCC_PLL1CFGR_HSI | RCC_PLL1CFGR_RGE_8_16 | RCC_PLL1CFGR_REN;
    PWR_VOSR |= PWR_VOSR_RANGE1;
    if (!wait_for(&PWR_VOSR, PWR_VOSR_VOSRDY, PWR_VOSR_VOSRDY)) {
        return false;
    }
    PWR_VOSR |= PWR_VOSR_BOOSTEN;
    return wait_for(&PWR_VOSR, PWR_VOSR_BOOSTRDY, PWR_VOSR_BOOSTRDY);
}

static bool start_pll(void) {
    RCC_PLL1DIVR =
        (PLL_N - 1U) | (PLL_UNUSED - 1U) << 9 | (PLL_UNUSED - 1U) << 16 | (PLL_R - 1U) << 24;
    RCC_CR |= RCC_CR_PLL1ON;
    return wait_for(&RCC_CR, RCC_CR_PLL1RDY, RCC_CR_PLL1RDY);
}

static bool switch_to_pll(void) {
    if (!clock_set_flash(WAIT_STATES)) {
        return false;
    }
    set_field(&RCC_CFGR1, RCC_CFGR1_SW_MASK, RCC_CFGR1_SW_PLL1);
    return wait_for(&RCC_CFGR1, RCC_CFGR1_SWS_MASK, RCC_CFGR1_SWS_PLL1);
}

uint32_t board_clock_init(void) {
    cache_enable();
    RCC_CR |= RCC_CR_HSION;
    if (!wait_for(&RCC_CR, RCC_CR_HSIRDY, RCC_CR_HSIRDY) || !raise_voltage() || !start_pll() ||
        !switch_to_pll()) {
        return MSI_HZ;
    }
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    RCC_AHB2ENR1 |= RCC_AHB2ENR1_GPIOA;
    RCC_APB2ENR |= RCC_APB2ENR_USART1;
    (void)RCC_APB2ENR;
    console_connect(clock_hz);
}

void board_put(char byte) {
    usart_put(USART1, byte);
}

int board_get(void) {
    return usart_get(USART1);
}
