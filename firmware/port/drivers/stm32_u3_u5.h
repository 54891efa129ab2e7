/* Shared by STM32U3 and U5: instruction cache, flash, and a console on USART1 (PA9, PA10).
 * Polls ICACHE_SR.BUSYF (bit 0 = 0) and FLASH_ACR.LATENCY (read back), beside stm32_usart_v2.h.
 *
 * Source: RM0456 7.3.3 (wait states), 8.4 (instruction cache) and DS13737 table 27 (alternate
 * functions) for the U5; ST's CMSIS header stm32u385xx.h has the same addresses and bits. */
#ifndef EDGEC_DRIVERS_STM32_U3_U5_H
#define EDGEC_DRIVERS_STM32_U3_U5_H

#include "board_config.h"
#include "registers.h"
#include "stm32_gpio.h"
#include "stm32_usart_v2.h"

#define FLASH_ACR REG32(0x40022000U)
#define FLASH_ACR_LATENCY_MASK 0xFU
#define FLASH_ACR_PRFTEN (1U << 8)

#define ICACHE_CR REG32(0x40030400U)
#define ICACHE_CR_EN (1U << 0)
#define ICACHE_SR REG32(0x40030404U)
#define ICACHE_SR_BUSYF (1U << 0)

#define GPIOA 0x42020000U
#define USART1 0x40013800U
#define USART1_FUNCTION 7U

/* Enable the instruction cache, once it has invalidated itself after reset. */
static inline void cache_enable(void) {
    if (wait_for(&ICACHE_SR, ICACHE_SR_BUSYF, 0)) {
        ICACHE_CR |= ICACHE_CR_EN;
    }
}

/* Set the flash for a faster clock.  False when it does not take the wait states. */
static inline bool clock_set_flash(uint32_t wait_states) {
    FLASH_ACR = wait_states | FLASH_ACR_PRFTEN;
    return wait_for(&FLASH_ACR, FLASH_ACR_LATENCY_MASK, wait_states);
}

/* Connect the console, whose port and USART have their clocks, and start it at PORT_BAUD. */
static inline void console_connect(uint32_t clock_hz) {
    gpio_connect(GPIOA, 9, USART1_FUNCTION);
    gpio_connect(GPIOA, 10, USART1_FUNCTION);
    usart_init(USART1, (clock_hz + PORT_BAUD / 2U) / PORT_BAUD);
}

#endif
