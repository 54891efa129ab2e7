/* Pins of STM32 families with a MODER register (all but F1).
 *
 * Source: RM0390 7.4, the same in RM0033, RM0432, RM0455, RM0456 and RM0444. */
#ifndef EDGEC_DRIVERS_STM32_GPIO_H
#define EDGEC_DRIVERS_STM32_GPIO_H

#include "registers.h"

#define GPIO_MODER 0x00U
#define GPIO_MODE_OUTPUT 1U
#define GPIO_MODE_ALTERNATE 2U
#define GPIO_OSPEEDR 0x08U
#define GPIO_SPEED_HIGH 2U
#define GPIO_PUPDR 0x0CU
#define GPIO_PULL_UP 1U
#define GPIO_BSRR 0x18U
#define GPIO_AFRL 0x20U

/* Connect pin 0 to 15 of the port at `base` to a peripheral, with a pull-up: an unconnected
 * receive line reads as idle. */
static inline void gpio_connect(uint32_t base, uint32_t pin, uint32_t function) {
    const uint32_t shift = 2U * pin;
    const uint32_t function_shift = 4U * (pin % 8U);
    set_field(&REG32(base + GPIO_AFRL + 4U * (pin / 8U)), 0xFU << function_shift,
              function << function_shift);
    set_field(&REG32(base + GPIO_OSPEEDR), 3U << shift, GPIO_SPEED_HIGH << shift);
    set_field(&REG32(base + GPIO_PUPDR), 3U << shift, GPIO_PULL_UP << shift);
    set_field(&REG32(base + GPIO_MODER), 3U << shift, GPIO_MODE_ALTERNATE << shift);
}

/* Make pin 0 to 15 of the port at `base` an output, push-pull, at this level. */
static inline void gpio_drive(uint32_t base, uint32_t pin, bool high) {
    REG32(base + GPIO_BSRR) = high ? 1U << pin : 1U << (pin + 16U);
    set_field(&REG32(base + GPIO_MODER), 3U << (2U * pin), GPIO_MODE_OUTPUT << (2U * pin));
}

#endif
