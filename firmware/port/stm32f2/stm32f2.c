/* STM32F207 on a Nucleo-144: 120 MHz from HSI, console on USART3 (PD8, PD9).
 *
 * Source: RM0033 3.4.1 and 5.3; DS6697 table 10 (alternate functions); UM1974 6.9. */
#include "board_config.h"
#include "board_io.h"
#include "stm32_clock_v1.h"
#include "stm32_gpio.h"
#include "stm32_usart_v1.h"

#define RCC_AHB1ENR_GPIOD (1U << 3)
#define RCC_APB1ENR_USART3 (1U << 18)

#define GPIOD 0x40020C00U
#define USART3 0x40004800U
#define USART3_FUNCTION 7U

#define PLL_N 120U
#define WAIT_STATES 3U
#define APB1_DIVIDER 4U

static uint32_t apb1_hz = HSI_HZ;

uint32_t board_clock_init(void) {
    if (!clock_start_pll(PLL_N) || !clock_switch_to_pll(WAIT_STATES, FLASH_ACR_ACCELERATOR)) {
        return HSI_HZ;
    }
    apb1_hz = PORT_CLOCK_HZ / APB1_DIVIDER;
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    RCC_AHB1ENR |= RCC_AHB1ENR_GPIOD;
    RCC_APB1ENR |= RCC_APB1ENR_USART3;
    (void)RCC_APB1ENR; /* the clock is there two cycles after the write */
    gpio_connect(GPIOD, 8, USART3_FUNCTION);
    gpio_connect(GPIOD, 9, USART3_FUNCTION);
    usart_init(USART3, apb1_hz, PORT_BAUD);
}

void board_put(char byte) {
    usart_put(USART3, byte);
}

int board_get(void) {
    return usart_get(USART3);
}
