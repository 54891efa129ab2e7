/* The USART of STM32F1, F2 and F4: SR and DR.  Polls SR.TXE (bit 7) and SR.RXNE (bit 5).
 *
 * Source: RM0390 25.6, the same in RM0008 and RM0033. */
#ifndef EDGEC_DRIVERS_STM32_USART_V1_H
#define EDGEC_DRIVERS_STM32_USART_V1_H

#include "registers.h"

#define USART_SR 0x00U
#define USART_SR_RXNE (1U << 5)
#define USART_SR_TXE (1U << 7)
#define USART_DR 0x04U
#define USART_BRR 0x08U
#define USART_CR1 0x0CU
#define USART_CR1_RE (1U << 2)
#define USART_CR1_TE (1U << 3)
#define USART_CR1_UE (1U << 13)

static inline void usart_init(uint32_t base, uint32_t input_hz, uint32_t baud) {
    REG32(base + USART_BRR) = (input_hz + baud / 2U) / baud;
    REG32(base + USART_CR1) = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE;
}

static inline void usart_put(uint32_t base, char byte) {
    while ((REG32(base + USART_SR) & USART_SR_TXE) == 0U) {
    }
    REG32(base + USART_DR) = (uint8_t)byte;
}

/* Reading SR, then DR also clears an overrun. */
static inline int usart_get(uint32_t base) {
    if ((REG32(base + USART_SR) & USART_SR_RXNE) == 0U) {
        return -1;
    }
    return (int)(REG32(base + USART_DR) & 0xFFU);
}

#endif
