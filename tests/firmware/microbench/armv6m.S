@ Cortex-M0 and Cortex-M0+: one loop a rule of the instruction tables.
    .include "loop.inc"

    loop    alu
    adds    r1, r1, r2
    lsls    r1, r1, #1
    uxtb    r1, r1
    rev     r1, r1
    mov     r8, r1
    again

    loop    multiply
    muls    r1, r2, r1
    again

    loop    load
    ldr     r1, [r0]
    ldrb    r1, [r0, #1]
    ldrsh   r1, [r0, r4]
    ldr     r1, literal
    again
    .balign 4
literal:
    .word   1

    loop    store
    str     r1, [r0]
    strb    r1, [r0, #1]
    strh    r1, [r0, r4]
    again

    loop    load_multiple
    ldm     r5!, {r1-r3}
    subs    r5, #12
    again

    loop    store_multiple
    stm     r5!, {r1-r3}
    subs    r5, #12
    again

    loop    push_pop
    push    {r1-r3}
    pop     {r1-r3}
    again

    loop    call_leaf
    bl      leaf
    again

    loop    call_frame
    bl      frame
    again

    loop    call_register
    ldr     r1, =leaf
    blx     r1
    again
    .ltorg

    loop    branch_not_taken
    cmp     r7, #0
    beq     1f
1:  again

    loop    branch_taken
    cmp     r7, #0
    bne     1f
    nop
1:  again

    loop    branch_always
    b       1f
    nop
1:  again

    loop    special
    mrs     r1, primask
    dsb
    isb
    cpsie   i
    again

    .balign 4
    .type leaf, %function
leaf:
    bx      lr

    .balign 4
    .type frame, %function
frame:
    push    {r4, lr}
    pop     {r4, pc}
