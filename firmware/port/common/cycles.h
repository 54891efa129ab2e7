/* The cycle counter that port_cycles reads. */
#ifndef EDGEC_PORT_CYCLES_H
#define EDGEC_PORT_CYCLES_H

/* Start counting core clock cycles. */
void cycles_init(void);

/* The exception that extends SysTick, where that is the counter. */
void SysTick_Handler(void);

#endif
