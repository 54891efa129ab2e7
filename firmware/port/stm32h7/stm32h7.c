/* STM32H7A3 on a Nucleo-144 with SMPS: 280 MHz from HSI, caches on, console on USART3 (PD8, PD9).
 *
 * Source: RM0455 4.3.9 (wait states), 6.4.1 (supply configuration), 6.6.2 (voltage scaling),
 * 6.8 (PWR), 8.7 (RCC), 52.8; DS13195 table 8 (alternate functions); UM2408 6.8.
 * Polls, beside drivers/: PWR_CSR1.ACTVOSRDY (bit 13), PWR_SRDCR.VOSRDY (bit 13). */
#include "board_config.h"
#include "board_io.h"
#include "cortex_m7_caches.h"
#include "stm32_clock_h7.h"
#include "stm32_gpio.h"
#include "stm32_usart_v2.h"

#define FLASH_ACR_WRHIGHFREQ (3U << 4)

#define PWR_CR3_SMPSEN (1U << 2)
#define PWR_SRDCR REG32(0x58024818U)
#define PWR_SRDCR_VOSRDY (1U << 13)
#define PWR_SRDCR_VOS_MASK (3U << 14)
#define PWR_SRDCR_VOS1 (2U << 14)
#define PWR_SRDCR_VOS0 (3U << 14)

#define RCC_CDCFGR1 REG32(0x58024418U)
#define RCC_CDCFGR1_CDPPRE_DIV2 (4U << 4)
#define RCC_CDCFGR2 REG32(0x5802441CU)
#define RCC_CDCFGR2_CDPPRE1_DIV2 (4U << 4)
#define RCC_CDCFGR2_CDPPRE2_DIV2 (4U << 8)
#define RCC_SRDCFGR REG32(0x58024420U)
#define RCC_SRDCFGR_SRDPPRE_DIV2 (4U << 4)
#define RCC_AHB4ENR REG32(0x58024540U)
#define RCC_AHB4ENR_GPIOD (1U << 3)
#define RCC_APB1LENR REG32(0x58024548U)
#define RCC_APB1LENR_USART3 (1U << 18)

#define GPIOD 0x58020C00U
#define USART3 0x40004800U
#define USART3_FUNCTION 7U

#define PLL_N 70U /* 64 MHz / 8 * 70 / 2 = 280 MHz */
#define WAIT_STATES 6U
#define APB_DIVIDER 2U

static uint32_t apb1_hz = HSI_HZ;

static bool set_voltage_scale(uint32_t scale) {
    set_field(&PWR_SRDCR, PWR_SRDCR_VOS_MASK, scale);
    (void)PWR_SRDCR; /* the write has arrived before the flag is read */
    return wait_for(&PWR_SRDCR, PWR_SRDCR_VOSRDY, PWR_SRDCR_VOSRDY);
}

/* The board supplies the core from the SMPS alone.  PWR_CR3 takes one write after power-up, and no
 * scale can be chosen before it.  Scale 0 can be reached from scale 1 only. */
static bool raise_voltage(void) {
    set_field(&PWR_CR3, PWR_CR3_BYPASS | PWR_CR3_LDOEN | PWR_CR3_SMPSEN, PWR_CR3_SMPSEN);
    return wait_for(&PWR_CSR1, PWR_CSR1_ACTVOSRDY, PWR_CSR1_ACTVOSRDY) &&
           set_voltage_scale(PWR_SRDCR_VOS1) && set_voltage_scale(PWR_SRDCR_VOS0);
}

static bool switch_to_pll(void) {
    if (!clock_set_flash(WAIT_STATES, FLASH_ACR_WRHIGHFREQ)) {
        return false;
    }
    RCC_CDCFGR1 = RCC_CDCFGR1_CDPPRE_DIV2;
    RCC_CDCFGR2 = RCC_CDCFGR2_CDPPRE1_DIV2 | RCC_CDCFGR2_CDPPRE2_DIV2;
    RCC_SRDCFGR = RCC_SRDCFGR_SRDPPRE_DIV2;
    apb1_hz = HSI_HZ / APB_DIVIDER;
    return clock_select_pll();
}

uint32_t board_clock_init(void) {
    caches_enable();
    if (!raise_voltage() || !clock_start_pll(PLL_N) || !switch_to_pll()) {
        return HSI_HZ;
    }
    apb1_hz = PORT_CLOCK_HZ / APB_DIVIDER;
    return PORT_CLOCK_HZ;
}

void board_console_init(uint32_t clock_hz) {
    (void)clock_hz;
    RCC_AHB4ENR |= RCC_AHB4ENR_GPIOD;
    RCC_APB1LENR |= RCC_APB1LENR_USART3;
    (void)RCC_APB1LENR; /* the clock is there two cycles after the write */
    gpio_connect(GPIOD, 8, USART3_FUNCTION);
    gpio_connect(GPIOD, 9, USART3_FUNCTION);
    usart_init(USART3, (apb1_hz + PORT_BAUD / 2U) / PORT_BAUD);
}

void board_put(char byte) {
    usart_put(USART3, byte);
}

int board_get(void) {
    return usart_get(USART3);
}
