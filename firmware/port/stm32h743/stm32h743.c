/* STM32H743 on a Nucleo-144: 400 MHz from HSI, caches on, console on USART3 (PD8, PD9).
 *
 * 400 MHz is the highest clock at voltage scale 1, which all revisions of the chip reach; the buses
 * and the flash run at half of it.
 * Source: RM0433 table 17 (wait states), chapters PWR (supply configuration, voltage scaling), RCC
 * and USART; DS12110, alternate functions; UM2407, virtual COM port. Polls, beside drivers/:
 * PWR_CSR1.ACTVOSRDY (bit 13), PWR_D3CR.VOSRDY (bit 13). */
#include "board_config.h"
#include "board_io.h"
#include "cortex_m7_caches.h"
#include "stm32_clock_h7.h"
#include "stm32_gpio.h"
#include "stm32_usart_v2.h"

#define FLASH_ACR_WRHIGHFREQ (2U << 4)

#define PWR_CR3_SCUEN (1U << 2)
#define PWR_D3CR REG32(0x58024818U)
#define PWR_D3CR_VOSRDY (1U << 13)
#define PWR_D3CR_VOS_MASK (3U << 14)
#define PWR_D3CR_VOS1 (3U << 14)

#define RCC_D1CFGR REG32(0x58024418U)
#define RCC_D1CFGR_HPRE_DIV2 8U
#define RCC_D1CFGR_D1PPRE_DIV2 (4U << 4)
#define RCC_D2CFGR REG32(0x5802441CU)
#define RCC_D2CFGR_D2PPRE1_DIV2 (4U << 4)
#define RCC_D2CFGR_D2PPRE2_DIV2 (4U << 8)
#define RCC_D3CFGR REG32(0x58024420U)
#define RCC_D3CFGR_D3PPRE_DIV2 (4U << 4)
#define RCC_AHB4ENR REG32(0x580244E0U)
#define RCC_AHB4ENR_GPIOD (1U << 3)
#define RCC_APB1LENR REG32(0x580244E8U)
#define RCC_APB1LENR_USART3 (1U << 18)

#define GPIOD 0x58020C00U
#define USART3 0x40004800U
#define USART3_FUNCTION 7U

#define PLL_N 100U /* 64 MHz / 8 * 100 / 2 = 400 MHz */
#define WAIT_STATES 2U
#define APB1_DIVIDER 4U

static uint32_t apb1_hz = HSI_HZ;

/* The board supplies the core from the LDO.  PWR_CR3 takes one write after power-up, and no scale
 * can be chosen before it. */
static bool raise_voltage(void) {
    set_field(&PWR_CR3, PWR_CR3_BYPASS | PWR_CR3_LDOEN | PWR_CR3_SCUEN, PWR_CR3_LDOEN);
    if (!wait_for(&PWR_CSR1, PWR_CSR1_ACTVOSRDY, PWR_CSR1_ACTVOSRDY)) {
        return false;
    }
    set_field(&PWR_D3CR, PWR_D3CR_VOS_MASK, PWR_D3CR_VOS1);
    (void)PWR_D3CR; /* the write has arrived before the flag is read */
    return wait_for(&PWR_D3CR, PWR_D3CR_VOSRDY, PWR_D3CR_VOSRDY);
}

static bool switch_to_pll(void) {
    if (!clock_set_flash(WAIT_STATES, FLASH_ACR_WRHIGHFREQ)) {
        return false;
    }
    RCC_D1CFGR = RCC_D1CFGR_HPRE_DIV2 | RCC_D1CFGR_D1PPRE_DIV2;
    RCC_D2CFGR = RCC_D2CFGR_D2PPRE1_DIV2 | RCC_D2CFGR_D2PPRE2_DIV2;
    RCC_D3CFGR = RCC_D3CFGR_D3PPRE_DIV2;
    apb1_hz = HSI_HZ / APB1_DIVIDER;
    return clock_select_pll();
}

uint32_t board_clock_init(void) {
    caches_enable();
    if (!raise_voltage() || !clock_start_pll(PLL_N) || !switch_to_pll()) {
        return HSI_HZ;
    }
    apb1_hz = PORT_CLOCK_HZ / APB1_DIVIDER;
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
