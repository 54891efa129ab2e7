/* Fault reports: exception, cause, registers at the fault, on the console. */
#include "fault.h"

#include "board_config.h"
#include "board_io.h"
#include "cortex_m.h"
#include "port.h"

extern uint32_t edgec_stack_limit[];
extern uint32_t edgec_stack_top[];

/* Words that the core pushes on exception entry.  Source: Armv7-M ARM B1.5.6. */
typedef struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
} frame_t;

static void put_text(const char *text) {
    while (*text != '\0') {
        board_put(*text++);
    }
}

static void put_register(const char *name, uint32_t value) {
    put_text(name);
    for (uint32_t i = 0; i < 8U; i++) {
        board_put("0123456789abcdef"[(value >> (28U - 4U * i)) & 15U]);
    }
}

static const char *exception_name(uint32_t number) {
    switch (number) {
    case 2:
        return "NMI";
    case 3:
        return "HardFault";
    case 4:
        return "MemManage";
    case 5:
        return "BusFault";
    case 6:
        return "UsageFault";
    case 7:
        return "SecureFault";
    default:
        return "unexpected exception";
    }
}

#if !defined(__ARM_ARCH_6M__)
/* Bits of CFSR in words.  Source: Armv7-M ARM B3.2.15, Armv8-M ARM D1.2.48. */
static const struct {
    uint32_t bit;
    const char *cause;
} causes[] = {
    {0, "fetch from a no-execute region"},
    {1, "forbidden data access"},
    {4, "stack not accessible"},
    {8, "fetch from nowhere"},
    {9, "access to nowhere"},
    {10, "access to nowhere (pc inexact)"},
    {12, "stack not accessible"},
    {16, "undefined instruction"},
    {17, "branch to an even address"},
    {18, "bad return from an exception"},
    {19, "coprocessor or FPU is off"},
    {20, "stack overflow"},
    {24, "unaligned access"},
    {25, "division by zero"},
};

static void put_causes(void) {
    const uint32_t status = SCB_CFSR;
    for (uint32_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if ((status >> causes[i].bit & 1U) != 0U) {
            put_text(", ");
            put_text(causes[i].cause);
        }
    }
    put_register("\r\ncfsr=", status);
    put_register(" hfsr=", SCB_HFSR);
    put_register(" mmfar=", SCB_MMFAR);
    put_register(" bfar=", SCB_BFAR);
}
#endif

__attribute__((used)) static _Noreturn void report(const frame_t *frame, uint32_t exception) {
    const uint32_t address = (uint32_t)frame;
    put_text("\r\nfault: ");
    put_text(exception_name(exception & 0x1FFU));
    const uint32_t limit = (uint32_t)edgec_stack_limit;
    const uint32_t top = (uint32_t)edgec_stack_top;
    const bool frame_valid = address >= limit && address <= top - (uint32_t)sizeof *frame;
    put_text(frame_valid ? "" : ", stack overflow");
#if !defined(__ARM_ARCH_6M__)
    put_causes();
#endif
    if (frame_valid) {
        put_register("\r\npc=", frame->pc);
        put_register(" lr=", frame->lr);
        put_register(" xpsr=", frame->xpsr);
        put_register("\r\nr0=", frame->r0);
        put_register(" r1=", frame->r1);
        put_register(" r2=", frame->r2);
        put_register(" r3=", frame->r3);
        put_register(" r12=", frame->r12);
    }
    put_register(" sp=", address);
    put_text("\r\nhalted\r\n");
    port_halt();
}

/* The stack may be unusable: remember where it was and start it anew, well above the frame that is
 * to be printed if that one is at the very top. */
__attribute__((naked)) void Fault_Handler(void) {
    __asm volatile("mrs r0, msp\n\t"
                   "mrs r1, ipsr\n\t"
                   "ldr r2, =edgec_stack_limit + 256\n\t"
                   "cmp r0, r2\n\t"
                   "bhs 1f\n\t"
                   "ldr r2, =edgec_stack_top\n\t"
                   "mov sp, r2\n\t"
                   "1: ldr r2, =report\n\t"
                   "bx r2\n\t"
                   ".ltorg");
}
