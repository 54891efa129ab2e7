/* The level 1 caches of a Cortex-M7: 4 ways of 32-byte lines for data, 16 KB unless the port
 * defines another number of sets.
 *
 * Source: Arm DDI 0403E B2.2.7; DDI 0489 5.1. */
#ifndef EDGEC_DRIVERS_CORTEX_M7_CACHES_H
#define EDGEC_DRIVERS_CORTEX_M7_CACHES_H

#include "cortex_m.h"

#ifndef DCACHE_SETS
#define DCACHE_SETS 128U
#endif
#define DCACHE_WAYS 4U

/* Invalidate both caches, which hold garbage after power-up, and switch them on. */
static inline void caches_enable(void) {
    SCB_ICIALLU = 0;
    for (uint32_t set = 0; set < DCACHE_SETS; set++) {
        for (uint32_t way = 0; way < DCACHE_WAYS; way++) {
            SCB_DCISW = way << 30 | set << 5;
        }
    }
    barrier();
    SCB_CCR |= SCB_CCR_IC | SCB_CCR_DC;
    barrier();
}

#endif
