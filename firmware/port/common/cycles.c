/* Core clock cycles: the DWT's counter, or SysTick extended from 24 bits by its interrupt.  A port
 * whose core has neither brings its own. */
#include "cycles.h"

#include "board_config.h"
#include "cortex_m.h"
#include "port.h"

#if PORT_CYCLES_DWT

void cycles_init(void) {
    DEMCR |= DEMCR_TRCENA;
    DWT_CYCCNT = 0;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
}

uint32_t port_cycles(void) {
    return DWT_CYCCNT;
}

#elif PORT_CYCLES_SYSTICK

#define SYSTICK_BITS 24U
#define SYSTICK_MASK ((1U << SYSTICK_BITS) - 1U)

static volatile uint32_t wraps;

void SysTick_Handler(void) {
    wraps++;
}

void cycles_init(void) {
    wraps = 0;
    SYST_RVR = SYSTICK_MASK;
    SYST_CVR = 0; /* reloads at the next cycle, without an interrupt */
    SYST_CSR = SYST_CSR_CLKSOURCE | SYST_CSR_TICKINT | SYST_CSR_ENABLE;
}

/* SysTick counts down; reaching 0 raises the interrupt, so that 0 belongs to the new wrap.  A
 * wrap whose interrupt has not run yet shows as pending: read again after it has. */
uint32_t port_cycles(void) {
    uint32_t before;
    uint32_t count;
    do {
        before = wraps;
        count = SYST_CVR;
    } while ((SCB_ICSR & SCB_ICSR_PENDSTSET) != 0U || before != wraps);
    return (before << SYSTICK_BITS) + ((0U - count) & SYSTICK_MASK);
}

#endif
