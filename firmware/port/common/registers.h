/* Memory-mapped registers, and waiting for them with a limit. */
#ifndef EDGEC_PORT_REGISTERS_H
#define EDGEC_PORT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#define REG32(address) (*(volatile uint32_t *)(address))

/* Reads of a flag before an oscillator or regulator counts as broken: at least 30 ms on any core
 * clock up to 64 MHz, and the slowest crystal starts in 10 ms. */
#define WAIT_READS 500000U

/* Wait until `(register & mask) == value`; false when that does not happen. */
static inline bool wait_for(const volatile uint32_t *reg, uint32_t mask, uint32_t value) {
    for (uint32_t i = 0; i < WAIT_READS; i++) {
        if ((*reg & mask) == value) {
            return true;
        }
    }
    return false;
}

static inline void set_field(volatile uint32_t *reg, uint32_t mask, uint32_t value) {
    *reg = (*reg & ~mask) | value;
}

#endif
