/* STM32WB55 on a Nucleo-68: 64 MHz from HSI16, console on USART1 (PB6, PB7).
 *
 * The second core (Cortex-M0+, for the radio) is not started; its clock stays within its 32 MHz.
 * Source: RM0434, chapters FLASH (wait states) and RCC (registers CR, CFGR, PLLCFGR, EXTCFGR);
 * DS11929, alternate functions; UM2435, virtual COM port.
 * Polls, beside drivers/: RCC_CR.HSIRDY (bit 10), PLLRDY (bit 25), FLASH_ACR.LATENCY (read back),
 * RCC_CFGR.SWS (bits 3:2 = 3). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_gpio.h"
#include "stm32_usart_v2.h"

#define MSI_HZ 4000000U

#define FLASH_ACR REG32(0x58004000U)
#define FLASH_ACR_LATENCY_MASK 7U
#define FLASH_ACR_PRFTEN (1U << 8)
#define FLASH_ACR_ICEN (1U << 9)
#define FLASH_ACR_DCEN (1U << 10)

#define RCC_CR REG32(0x58000000U)
#define RCC_CR_HSION (1U << 8)
#define RCC_CR_HSIRDY (1U << 10)
#define RCC_CR_PLLON (1U << 24)
#define RCC_CR_PLLRDY (1U << 25)
#define RCC_CFGR REG32(0x58000008U)
#define RCC_CFGR_SW_MASK 3U
#define RCC_CFGR_SW_PLL 3U
#define RCC_CFGR_SWS_MASK (3U << 2)
#define RCC_CFGR_SWS_PLL (3U << 2)
#define RCC_PLLCFGR REG32(0x5800000CU)
#define RCC_PLLCFGR_HSI 2U
#define RCC_PLLCFGR_REN (1U << 28)
#define RCC_PLLCFGR_R2 (1U << 29)
#define RCC_AHB2ENR REG32(0x5800004CU)
#define RCC_AHB2ENR_GPIOB (1U << 1)
#define RCC_APB2ENR REG32(0x58000060U)
#define RCC_APB2ENR_USART1 (1U << 14)
#define RCC_EXTCFGR REG32(0x58000108U)
#define RCC_EXTCFGR_C2HPRE_MASK (0xFU << 4)
#define RCC_EXTCFGR_C2HPRE_DIV2 (8U << 4)

#define GPIOB 0x48000400U
#define USART1 0x40013800U
#define USART1_FUNCTION 7U

#define PLL_M 2U
#define PLL_N 16U /* 16 MHz / 2 * 16 / 2 = 64 MHz */
#define WAIT_STATES 3U

static bool start_pll(void) {
    RCC_PLLCFGR =
        RCC_PLLCFGR_HSI | (PLL_M - 1U) << 4 | PLL_N << 8 | RCC_PLLCFGR_REN | RCC_PLLCFGR_R2;
    RCC_CR |= RCC_CR_PLLON;
    return wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

static bool switch_to_pll(void) {
    set_field(&RCC_EXTCFGR, RCC_EXTCFGR_C2HPRE_MASK, RCC_EXTCFGR_C2HPRE_DIV2);
    set_field(&FLASH_ACR, FLASH_ACR_LATENCY_MASK,
              WAIT_STATES | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN);
    if (!wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_MASK, WAIT_STATES)) {
        return false;
    }
    set_field(&RCC_CFGR, RCC_CFGR_SW_MASK, RCC_CFGR_SW_PLL);
    return wait_for(&RCC_CFGR, RCC_CFGR_SWS_MASK, RCC_CFGR_SWS_PLL);
}

uint32_t board_clock_init(void) {
    RCC_CR |= RCC_CR_HSION;
    if (!wait_for(&RCC_CR, RCC_CR_HSIRDY, RCC_CR_HSIRDY) || !start_pll() || !switch_to_pll()) {
        return MSI_HZ;
    }
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    RCC_AHB2ENR |= RCC_AHB2ENR_GPIOB;
    RCC_APB2ENR |= RCC_APB2ENR_USART1;
    (void)RCC_APB2ENR; /* the clock is there two cycles after the write */
    gpio_connect(GPIOB, 6, USART1_FUNCTION);
    gpio_connect(GPIOB, 7, USART1_FUNCTION);
    usart_init(USART1, (clock_hz + PORT_BAUD / 2U) / PORT_BAUD);
}

void board_put(char byte) {
    usart_put(USART1, byte);
}

int board_get(void) {
    return usart_get(USART1);
}
