/* STM32F405, F407 and F446, 1 MHz steps up to 180 MHz from HSI, console on USART2 (PA2, PA3).
 *
 * Source: RM0390 6.3 (RCC), 3.4.1 (wait states); DS10693 table 12 (alternate functions);
 * RM0090 7.3, 3.5.1; DS8626, alternate functions. */
#include "board_config.h"
#include "board_io.h"
#include "stm32_clock_v1.h"
#include "stm32_gpio.h"
#include "stm32_overdrive.h"
#include "stm32_usart_v1.h"

#define RCC_AHB1ENR_GPIOA (1U << 0)
#define RCC_APB1ENR_USART2 (1U << 17)

#define GPIOA 0x40020000U
#define USART2 0x40004400U
#define USART2_FUNCTION 7U

#define PLL_N (PORT_CLOCK_HZ / 1000000U)
#define WAIT_STATES 5U /* at 2.7 to 3.6 V, for 150 to 180 MHz */
#define APB1_DIVIDER 4U
#define NEEDS_OVERDRIVE (PORT_CLOCK_HZ > 168000000U) /* only the F446 here can go there */

static uint32_t apb1_hz = HSI_HZ;

uint32_t board_clock_init(void) {
    if (NEEDS_OVERDRIVE) {
        overdrive_prepare();
    }
    if (!clock_start_pll(PLL_N) || (NEEDS_OVERDRIVE && !overdrive_enable()) ||
        !clock_switch_to_pll(WAIT_STATES, FLASH_ACR_ACCELERATOR)) {
        return HSI_HZ;
    }
    apb1_hz = PORT_CLOCK_HZ / APB1_DIVIDER;
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    RCC_AHB1ENR |= RCC_AHB1ENR_GPIOA;
    RCC_APB1ENR |= RCC_APB1ENR_USART2;
    (void)RCC_APB1ENR;
    gpio_connect(GPIOA, 2, USART2_FUNCTION);
    gpio_connect(GPIOA, 3, USART2_FUNCTION);
    usart_init(USART2, apb1_hz, PORT_BAUD);
}

void board_put(char byte) {
    usart_put(USART2, byte);
}

int board_get(void) {
    return usart_get(USART2);
}
