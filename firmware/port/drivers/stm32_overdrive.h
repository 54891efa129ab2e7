/* The regulator's over-drive of STM32F446 and F7, needed above 168 and 180 MHz.
 * Polls PWR_CSR.ODRDY (bit 16) and ODSWRDY (bit 17).
 *
 * Source: RM0390 5.1.4; RM0410, chapter PWR (over-drive). */
#ifndef EDGEC_DRIVERS_STM32_OVERDRIVE_H
#define EDGEC_DRIVERS_STM32_OVERDRIVE_H

#include "registers.h"
#include "stm32_clock_v1.h"

#define RCC_APB1ENR_PWR (1U << 28)

#define PWR_CR REG32(0x40007000U)
#define PWR_CR_VOS_SCALE1 (3U << 14)
#define PWR_CR_ODEN (1U << 16)
#define PWR_CR_ODSWEN (1U << 17)
#define PWR_CSR REG32(0x40007004U)
#define PWR_CSR_ODRDY (1U << 16)
#define PWR_CSR_ODSWRDY (1U << 17)

/* Choose the highest voltage; before the PLL runs, because later the field cannot be written. */
static inline void overdrive_prepare(void) {
    RCC_APB1ENR |= RCC_APB1ENR_PWR;
    (void)RCC_APB1ENR; /* the clock is there two cycles after the write */
    PWR_CR |= PWR_CR_VOS_SCALE1;
}

/* Switch over-drive on while the core still runs on HSI.  False when it does not get ready. */
static inline bool overdrive_enable(void) {
    PWR_CR |= PWR_CR_ODEN;
    if (!wait_for(&PWR_CSR, PWR_CSR_ODRDY, PWR_CSR_ODRDY)) {
        return false;
    }
    PWR_CR |= PWR_CR_ODSWEN;
    return wait_for(&PWR_CSR, PWR_CSR_ODSWRDY, PWR_CSR_ODSWRDY);
}

#endif
