/* STM32G0B1 on a Nucleo-64: 64 MHz from HSI16, console on USART2 (PA2, PA3).
 *
 * Source: RM0444 3.3.4 (wait states), 5.4 (RCC), 33.8; DS13560 table 13 (alternate functions);
 * UM2324 6.9.
 * Polls, beside drivers/: RCC_CR.PLLRDY (bit 25), FLASH_ACR.LATENCY (read back), RCC_CFGR.SWS
 * (bits 5:3 = 2). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_gpio.h"
#include "stm32_usart_v2.h"

#define HSI_HZ 16000000U

#define FLASH_ACR REG32(0x40022000U)
#define FLASH_ACR_LATENCY_MASK 7U
#define FLASH_ACR_LATENCY_2 2U
#define FLASH_ACR_PRFTEN (1U << 8)
#define FLASH_ACR_ICEN (1U << 9)

#define RCC_CR REG32(0x40021000U)
#define RCC_CR_PLLON (1U << 24)
#define RCC_CR_PLLRDY (1U << 25)
#define RCC_CFGR REG32(0x40021008U)
#define RCC_CFGR_SW_MASK 7U
#define RCC_CFGR_SW_PLL 2U
#define RCC_CFGR_SWS_MASK (7U << 3)
#define RCC_CFGR_SWS_PLL (2U << 3)
#define RCC_PLLCFGR REG32(0x4002100CU)
#define RCC_PLLCFGR_HSI 2U
#define RCC_PLLCFGR_REN (1U << 28)
#define RCC_PLLCFGR_R2 (1U << 29)
#define RCC_IOPENR REG32(0x40021034U)
#define RCC_IOPENR_GPIOA (1U << 0)
#define RCC_APBENR1 REG32(0x4002103CU)
#define RCC_APBENR1_USART2 (1U << 17)

#define GPIOA 0x50000000U
#define USART2 0x40004400U
#define USART2_FUNCTION 1U

#define PLL_N 8U /* 16 MHz / 1 * 8 / 2 = 64 MHz */

uint32_t board_clock_init(void) {
    RCC_PLLCFGR = RCC_PLLCFGR_HSI | PLL_N << 8 | RCC_PLLCFGR_REN | RCC_PLLCFGR_R2;
    RCC_CR |= RCC_CR_PLLON;
    set_field(&FLASH_ACR, FLASH_ACR_LATENCY_MASK,
              FLASH_ACR_LATENCY_2 | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN);
    if (!wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY) ||
        !wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_MASK, FLASH_ACR_LATENCY_2)) {
        return HSI_HZ;
    }
    set_field(&RCC_CFGR, RCC_CFGR_SW_MASK, RCC_CFGR_SW_PLL);
    const bool switched = wait_for(&RCC_CFGR, RCC_CFGR_SWS_MASK, RCC_CFGR_SWS_PLL);
    return switched ? PORT_CLOCK_HZ : HSI_HZ;
}

void board_console_init(uint32_t clock_hz) {
    RCC_IOPENR |= RCC_IOPENR_GPIOA;
    RCC_APBENR1 |= RCC_APBENR1_USART2;
    (void)RCC_APBENR1; /* the clock is there two cycles after the write */
    gpio_connect(GPIOA, 2, USART2_FUNCTION);
    gpio_connect(GPIOA, 3, USART2_FUNCTION);
    usart_init(USART2, (clock_hz + PORT_BAUD / 2U) / PORT_BAUD);
}

void board_put(char byte) {
    usart_put(USART2, byte);
}

int board_get(void) {
    return usart_get(USART2);
}
