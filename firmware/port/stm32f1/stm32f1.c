/* STM32F103 on a Nucleo-64: 72 MHz from the ST-LINK's 8 MHz on OSC_IN, console on USART2
 * (PA2, PA3).  Without that clock HSI gives 64 MHz.
 *
 * Source: RM0008 3.3.3 (flash), 7.3 (RCC), 9.2 (GPIO), 27.6 (USART); UM1724 6.7.1 and 6.8.
 * Polls RCC_CR.HSERDY (bit 17), RCC_CR.PLLRDY (bit 25), RCC_CFGR.SWS (bits 3:2 = 2). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_usart_v1.h"

#define HSI_HZ 8000000U
#define HSI_PLL_HZ 64000000U /* HSI / 2 * 16, the most it can give */

#define FLASH_ACR REG32(0x40022000U)
#define FLASH_ACR_LATENCY_2 2U
#define FLASH_ACR_PRFTBE (1U << 4)

#define RCC_CR REG32(0x40021000U)
#define RCC_CR_HSEON (1U << 16)
#define RCC_CR_HSERDY (1U << 17)
#define RCC_CR_HSEBYP (1U << 18)
#define RCC_CR_PLLON (1U << 24)
#define RCC_CR_PLLRDY (1U << 25)
#define RCC_CFGR REG32(0x40021004U)
#define RCC_CFGR_SW_PLL 2U
#define RCC_CFGR_SWS_MASK (3U << 2)
#define RCC_CFGR_SWS_PLL (2U << 2)
#define RCC_CFGR_PPRE1_DIV2 (4U << 8)
#define RCC_CFGR_PLLSRC_HSE (1U << 16)
#define RCC_CFGR_PLLMUL_9 (7U << 18)
#define RCC_CFGR_PLLMUL_16 (14U << 18)
#define RCC_APB2ENR REG32(0x40021018U)
#define RCC_APB2ENR_GPIOA (1U << 2)
#define RCC_APB1ENR REG32(0x4002101CU)
#define RCC_APB1ENR_USART2 (1U << 17)

#define GPIOA_CRL REG32(0x40010800U)
#define GPIOA_BSRR REG32(0x40010810U)
#define GPIO_OUTPUT_ALTERNATE 0xBU /* push-pull, 50 MHz */
#define GPIO_INPUT_PULLED 0x8U     /* up or down as the output bit says */
#define USART2 0x40004400U
#define APB1_DIVIDER 2U

static uint32_t apb1_hz = HSI_HZ;

uint32_t board_clock_init(void) {
    FLASH_ACR = FLASH_ACR_LATENCY_2 | FLASH_ACR_PRFTBE;
    RCC_CR |= RCC_CR_HSEBYP;
    RCC_CR |= RCC_CR_HSEON;
    const bool external = wait_for(&RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY);
    const uint32_t source = external ? RCC_CFGR_PLLSRC_HSE | RCC_CFGR_PLLMUL_9 : RCC_CFGR_PLLMUL_16;
    RCC_CFGR = source | RCC_CFGR_PPRE1_DIV2;
    RCC_CR |= RCC_CR_PLLON;
    if (!wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY)) {
        apb1_hz = HSI_HZ / APB1_DIVIDER;
        return HSI_HZ;
    }
    RCC_CFGR |= RCC_CFGR_SW_PLL;
    const bool switched = wait_for(&RCC_CFGR, RCC_CFGR_SWS_MASK, RCC_CFGR_SWS_PLL);
    const uint32_t pll_hz = external ? PORT_CLOCK_HZ : HSI_PLL_HZ;
    const uint32_t clock_hz = switched ? pll_hz : HSI_HZ;
    apb1_hz = clock_hz / APB1_DIVIDER;
    return clock_hz;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    RCC_APB2ENR |= RCC_APB2ENR_GPIOA;
    RCC_APB1ENR |= RCC_APB1ENR_USART2;
    (void)RCC_APB1ENR;
    GPIOA_BSRR = 1U << 3; /* pull the receive line up: unconnected reads as idle */
    set_field(&GPIOA_CRL, 0xFFU << 8, GPIO_OUTPUT_ALTERNATE << 8 | GPIO_INPUT_PULLED << 12);
    usart_init(USART2, apb1_hz, PORT_BAUD);
}

void board_put(char byte) {
    usart_put(USART2, byte);
}

int board_get(void) {
    return usart_get(USART2);
}
