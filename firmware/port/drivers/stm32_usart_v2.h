/* The USART and LPUART of STM32L4+, H7, U3, U5, G0 and WB: ISR, RDR and TDR, with FIFOs of 8 bytes;
 * the F7 has the same without FIFOs.
 * Polls ISR.TXE (bit 7, "FIFO not full") and ISR.RXNE (bit 5, "FIFO not empty").
 *
 * Source: RM0432 51.8 and 52.7, the same in RM0433, RM0434, RM0455, RM0456 and RM0444, and
 * but for the FIFOs in RM0410; for the U3 ST's CMSIS header stm32u385xx.h. */
#ifndef EDGEC_DRIVERS_STM32_USART_V2_H
#define EDGEC_DRIVERS_STM32_USART_V2_H

#include "registers.h"

#define USART_CR1 0x00U
#define USART_CR1_UE (1U << 0)
#define USART_CR1_RE (1U << 2)
#define USART_CR1_TE (1U << 3)
#define USART_CR1_FIFOEN (1U << 29)
#define USART_CR3 0x08U
#define USART_CR3_OVRDIS (1U << 12) /* a lost byte must not stop reception */
#define USART_BRR 0x0CU
#define USART_ISR 0x1CU
#define USART_ISR_RXNE (1U << 5)
#define USART_ISR_TXE (1U << 7)
#define USART_RDR 0x24U
#define USART_TDR 0x28U

/* `divider` is the value of BRR: input / baud for a USART, 256 * input / baud for an LPUART;
 * `fifo` is USART_CR1_FIFOEN, or 0 where there are no FIFOs. */
static inline void usart_start(uint32_t base, uint32_t divider, uint32_t fifo) {
    REG32(base + USART_CR1) = 0;
    REG32(base + USART_BRR) = divider;
    REG32(base + USART_CR3) = USART_CR3_OVRDIS;
    REG32(base + USART_CR1) = fifo | USART_CR1_TE | USART_CR1_RE;
    REG32(base + USART_CR1) |= USART_CR1_UE;
}

static inline void usart_init(uint32_t base, uint32_t divider) {
    usart_start(base, divider, USART_CR1_FIFOEN);
}

static inline void usart_put(uint32_t base, char byte) {
    while ((REG32(base + USART_ISR) & USART_ISR_TXE) == 0U) {
    }
    REG32(base + USART_TDR) = (uint8_t)byte;
}

static inline int usart_get(uint32_t base) {
    if ((REG32(base + USART_ISR) & USART_ISR_RXNE) == 0U) {
        return -1;
    }
    return (int)(REG32(base + USART_RDR) & 0xFFU);
}

#endif
