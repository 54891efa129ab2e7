/* From reset to main(): vector table, FPU, stack paint, .data and .bss. */
#include "board_config.h"
#include "cortex_m.h"
#include "cycles.h"
#include "fault.h"
#include "memory.h"
#include "port.h"

/* Sections that run from RAM and are stored in flash. */
typedef struct copy {
    uint32_t *to;
    const uint32_t *from;
    uint32_t bytes;
} copy_t;

/* Symbols of the linker script. */
extern uint32_t edgec_stack_limit[];
extern uint32_t edgec_stack_top[];
extern const copy_t edgec_copies[];
extern const copy_t edgec_copies_end[];
extern uint32_t edgec_bss_start[];
extern uint32_t edgec_bss_end[];

/* Value of an unused word of the stack. */
#define STACK_PAINT 0x5AC35AC3U

int main(void);
_Noreturn void Reset_Handler(void);

typedef void (*vector_t)(void);

/* Exceptions 1 to 15; no interrupt beyond them is ever enabled. */
typedef struct vector_table {
    uint32_t *initial_stack;
    vector_t handlers[15];
} vector_table_t;

__attribute__((section(".isr_vector"), used)) const vector_table_t edgec_vectors = {
    edgec_stack_top,
    {
        (vector_t)Reset_Handler,
        Fault_Handler, /* NMI */
        Fault_Handler, /* HardFault */
        Fault_Handler, /* MemManage */
        Fault_Handler, /* BusFault */
        Fault_Handler, /* UsageFault */
        Fault_Handler, /* SecureFault */
        Fault_Handler,
        Fault_Handler,
        Fault_Handler,
        Fault_Handler, /* SVCall */
        Fault_Handler, /* DebugMonitor */
        Fault_Handler,
        Fault_Handler, /* PendSV */
#if PORT_CYCLES_SYSTICK
        SysTick_Handler,
#else
        Fault_Handler,
#endif
    },
};

static void enable_core_features(void) {
#if !defined(__ARM_ARCH_6M__)
    SCB_CCR |= SCB_CCR_DIV_0_TRP;
#endif
#if PORT_HAS_VTOR
    SCB_VTOR = (uint32_t)&edgec_vectors;
#endif
#if defined(__ARM_FP)
    SCB_CPACR |= SCB_CPACR_FPU;
#endif
#if defined(__ARM_ARCH_8M_MAIN__)
    __asm volatile("msr msplim, %0" ::"r"(edgec_stack_limit));
#endif
    barrier();
}

__attribute__((noinline)) static void prepare_memory(void) {
    volatile uint32_t *word = edgec_stack_limit; /* volatile: neither memset nor FPU copies */
    volatile uint32_t here = 0;
    while (word + 16 < &here) {
        *word++ = STACK_PAINT;
    }
    for (const copy_t *part = edgec_copies; part < edgec_copies_end; part++) {
        (void)memcpy(part->to, part->from, part->bytes);
    }
    for (word = edgec_bss_start; word < edgec_bss_end; word++) {
        *word = 0;
    }
}

_Noreturn void Reset_Handler(void) {
    enable_core_features();
    prepare_memory();
    (void)main();
    port_halt();
}

uint32_t port_stack_used(void) {
    const uint32_t *word = edgec_stack_limit;
    while (word < edgec_stack_top && *word == STACK_PAINT) {
        word++;
    }
    return (uint32_t)(edgec_stack_top - word) * (uint32_t)sizeof *word;
}
