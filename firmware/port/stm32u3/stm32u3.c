/* STM32U385 on a Nucleo-64: 96 MHz from MSIRC0, console on USART1 (PA9, PA10).
 *
 * Source: ST's CMSIS header stm32u385xx.h (addresses and bits); RM0487 7.3.3 with table 43 (wait
 * states) and 9.3.3 (voltage scaling, EPOD booster) as other projects cite them; UM3062 (virtual
 * COM port).  No chip has run it yet.  Polls, beside drivers/: PWR_VOSR.R1RDY (bit 16) and BOOSTRDY
 * (bit 24), RCC_CR.MSISRDY (bit 2). */
#include "board_config.h"
#include "board_io.h"
#include "stm32_u3_u5.h"

#define RESET_HZ 12000000U

#define PWR_VOSR REG32(0x4003080CU)
#define PWR_VOSR_RANGES_MASK 3U
#define PWR_VOSR_RANGE1 (1U << 0)
#define PWR_VOSR_BOOSTEN (1U << 8)
#define PWR_VOSR_R1RDY (1U << 16)
#define PWR_VOSR_BOOSTRDY (1U << 24)

#define RCC_CR REG32(0x40030C00U)
#define RCC_CR_MSISRDY (1U << 2)
#define RCC_ICSCR1 REG32(0x40030C08U)
#define RCC_ICSCR1_MSIRGSEL (1U << 23)  /* the range is that of this register */
#define RCC_ICSCR1_MSIS_MASK (7U << 29) /* 0: MSIRC0, 96 MHz, not divided */
#define RCC_CFGR4 REG32(0x40030C28U)
#define RCC_CFGR4_BOOST_MASK (0xFU << 12 | 3U)
#define RCC_CFGR4_BOOST_MSIS 1U /* not divided */
#define RCC_AHB2ENR1 REG32(0x40030C8CU)
#define RCC_AHB2ENR1_GPIOA (1U << 0)
#define RCC_AHB1ENR2 REG32(0x40030C94U)
#define RCC_AHB1ENR2_PWR (1U << 2)
#define RCC_APB2ENR REG32(0x40030CA4U)
#define RCC_APB2ENR_USART1 (1U << 14)

#define WAIT_STATES 2U /* range 1: one for each 32 MHz after the first */

/* Range 2 ends at 48 MHz; the booster, which MSIS clocks, is needed above 24 MHz. */
static bool raise_voltage(void) {
    RCC_AHB1ENR2 |= RCC_AHB1ENR2_PWR;
    (void)RCC_AHB1ENR2; /* the clock is there two cycles after the write */
    set_field(&PWR_VOSR, PWR_VOSR_RANGES_MASK, PWR_VOSR_RANGE1);
    if (!wait_for(&PWR_VOSR, PWR_VOSR_R1RDY, PWR_VOSR_R1RDY)) {
        return false;
    }
    set_field(&RCC_CFGR4, RCC_CFGR4_BOOST_MASK, RCC_CFGR4_BOOST_MSIS);
    PWR_VOSR |= PWR_VOSR_BOOSTEN;
    return wait_for(&PWR_VOSR, PWR_VOSR_BOOSTRDY, PWR_VOSR_BOOSTRDY);
}

/* MSIS is the system clock from reset on: there is nothing to switch. */
static bool raise_clock(void) {
    if (!clock_set_flash(WAIT_STATES)) {
        return false;
    }
    set_field(&RCC_ICSCR1, RCC_ICSCR1_MSIS_MASK | RCC_ICSCR1_MSIRGSEL, RCC_ICSCR1_MSIRGSEL);
    return wait_for(&RCC_CR, RCC_CR_MSISRDY, RCC_CR_MSISRDY);
}

uint32_t board_clock_init(void) {
    cache_enable();
    return (raise_voltage() && raise_clock()) ? PORT_CLOCK_HZ : RESET_HZ;
}

void board_console_init(uint32_t clock_hz) {
    RCC_AHB2ENR1 |= RCC_AHB2ENR1_GPIOA;
    RCC_APB2ENR |= RCC_APB2ENR_USART1;
    (void)RCC_APB2ENR;
    console_connect(clock_hz);
}

void board_put(char byte) {
    usart_put(USART1, byte);
}

int board_get(void) {
    return usart_get(USART1);
}
