/* The handler of every exception that should not happen. */
#ifndef EDGEC_PORT_FAULT_H
#define EDGEC_PORT_FAULT_H

/* Print what happened and where over the console, then stop. */
void Fault_Handler(void);

#endif
