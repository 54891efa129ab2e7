/* STM32F767 on a Nucleo-144: 216 MHz from HSI, caches on, console on USART3 (PD8, PD9).
 *
 * The flash is read at its AXI address, where the core's caches stand before it; the ART
 * accelerator serves the other address. Source: RM0410 3.3.2 (wait states), 5.3 (RCC), chapter
 * USART; DS11532, alternate functions; UM1974 6.9. */
#include "board_config.h"
#include "board_io.h"
#include "cortex_m7_caches.h"
#include "stm32_clock_v1.h"
#include "stm32_gpio.h"
#include "stm32_overdrive.h"
#include "stm32_usart_v2.h"

#define RCC_AHB1ENR_GPIOD (1U << 3)
#define RCC_APB1ENR_USART3 (1U << 18)

#define GPIOD 0x40020C00U
#define USART3 0x40004800U
#define USART3_FUNCTION 7U

#define PLL_N 216U
#define WAIT_STATES 7U
#define APB1_DIVIDER 4U

static uint32_t apb1_hz = HSI_HZ;

uint32_t board_clock_init(void) {
    caches_enable();
    overdrive_prepare();
    if (!clock_start_pll(PLL_N) || !overdrive_enable() || !clock_switch_to_pll(WAIT_STATES, 0)) {
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
    usart_start(USART3, (apb1_hz + PORT_BAUD / 2U) / PORT_BAUD, 0);
}

void board_put(char byte) {
    usart_put(USART3, byte);
}

int board_get(void) {
    return usart_get(USART3);
}
