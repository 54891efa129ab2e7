/* Registers of the Cortex-M system control space.
 *
 * Source: Arm DDI 0403E (Armv7-M ARM) B3.2 and C1.8, DDI 0419E (Armv6-M ARM) B3.2, DDI 0553
 * (Armv8-M ARM) D1.2. */
#ifndef EDGEC_PORT_CORTEX_M_H
#define EDGEC_PORT_CORTEX_M_H

#include "registers.h"

#define SYST_CSR REG32(0xE000E010U)
#define SYST_CSR_ENABLE (1U << 0)
#define SYST_CSR_TICKINT (1U << 1)
#define SYST_CSR_CLKSOURCE (1U << 2)
#define SYST_RVR REG32(0xE000E014U)
#define SYST_CVR REG32(0xE000E018U)

#define SCB_ICSR REG32(0xE000ED04U)
#define SCB_ICSR_PENDSTSET (1U << 26)
#define SCB_VTOR REG32(0xE000ED08U)
#define SCB_AIRCR REG32(0xE000ED0CU)
#define SCB_AIRCR_SYSRESETREQ 0x05FA0004U /* with the key that a write needs */
#define SCB_CCR REG32(0xE000ED14U)
#define SCB_CCR_DIV_0_TRP (1U << 4)
#define SCB_CCR_IC (1U << 17)
#define SCB_CCR_DC (1U << 16)
#define SCB_CFSR REG32(0xE000ED28U)
#define SCB_HFSR REG32(0xE000ED2CU)
#define SCB_MMFAR REG32(0xE000ED34U)
#define SCB_BFAR REG32(0xE000ED38U)
#define SCB_CPACR REG32(0xE000ED88U)
#define SCB_CPACR_FPU (0xFU << 20) /* full access to CP10 and CP11 */
#define SCB_ICIALLU REG32(0xE000EF50U)
#define SCB_DCISW REG32(0xE000EF60U)

#define DEMCR REG32(0xE000EDFCU)
#define DEMCR_TRCENA (1U << 24)
#define DWT_CTRL REG32(0xE0001000U)
#define DWT_CTRL_CYCCNTENA (1U << 0)
#define DWT_CYCCNT REG32(0xE0001004U)

static inline void barrier(void) {
    __asm volatile("dsb\n\tisb" ::: "memory");
}

#endif
