/* STM32F446 on a Nucleo-64: 180 MHz from HSI, console on USART2 (PA2, PA3).
 *
 * Source: RM0390 5.1.4 (over-drive), 6.3 (RCC); DS10693 table 12 (alternate functions); UM1724 6.8.
 * Polls, beside drivers/: PWR_CSR.ODRDY (bit 16) and ODSWRDY (bit 17). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_clock_v1.h"
#include "stm32_gpio.h"
#include "stm32_usart_v1.h"

#define PWR_CR REG32(0x40007000U)
#define PWR_CR_VOS_SCALE1 (3U << 14)
#define PWR_CR_ODEN (1U << 16)
#define PWR_CR_ODSWEN (1U << 17)
#define PWR_CSR REG32(0x40007004U)
#define PWR_CSR_ODRDY (1U << 16)
#define PWR_CSR_ODSWRDY (1U << 17)

#define RCC_AHB1ENR_GPIOA (1U << 0)
#define RCC_APB1ENR_USART2 (1U << 17)
#define RCC_APB1ENR_PWR (1U << 28)

#define GPIOA 0x40020000U
#define USART2 0x40004400U
#define USART2_FUNCTION 7U

#define PLL_N 180U
#define WAIT_STATES 5U
#define APB1_DIVIDER 4U

static uint32_t apb1_hz = HSI_HZ;

/* Above 168 MHz the regulator's over-drive is needed; it is switched on while running on HSI. */
static bool enable_overdrive(void) {
    PWR_CR |= PWR_CR_ODEN;
    if (!wait_for(&PWR_CSR, PWR_CSR_ODRDY, PWR_CSR_ODRDY)) {
        return false;
    }
    PWR_CR |= PWR_CR_ODSWEN;
    return wait_for(&PWR_CSR, PWR_CSR_ODSWRDY, PWR_CSR_ODSWRDY);
}

uint32_t board_clock_init(void) {
    RCC_APB1ENR |= RCC_APB1ENR_PWR;
    (void)RCC_APB1ENR; /* the clock is there two cycles after the write */
    PWR_CR |= PWR_CR_VOS_SCALE1;
    if (!clock_start_pll(PLL_N) || !enable_overdrive() || !clock_switch_to_pll(WAIT_STATES)) {
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
