@ Cortex-M7: one loop a rule of issue or latency (see edgec/timing/core_m7.py).
    .include "loop.inc"

    loop    alu_pairs
    add.w   r1, r1, r4
    add.w   r2, r2, r4
    add.w   r3, r3, r4
    add.w   r8, r8, r4
    again

    loop    alu_chain
    add.w   r1, r1, r4
    add.w   r1, r1, r4
    again

    loop    shifted_pair
    add.w   r1, r2, r4, lsl #2
    add.w   r3, r2, r4, lsl #2
    again

    loop    shifted_late
    add.w   r1, r2, r4
    nop
    add.w   r3, r2, r1, lsl #2
    again

    loop    simd_pair
    sxtb16  r1, r2
    sxtb16  r3, r4
    again

    loop    simd_second
    add.w   r1, r2, r4
    sxtb16  r3, r4
    add.w   r8, r2, r4
    nop
    again

    loop    load_use
    ldr     r1, [r0]
    add.w   r2, r1, r4
    again

    loop    load_byte_use
    ldrb    r1, [r0]
    add.w   r2, r1, r4
    again

    loop    load_multiply
    ldr     r1, [r0]
    mul     r2, r1, r4
    again

    loop    load_chain
    ldr     r1, [r0]
    nop
    ldr     r2, [r1]
    again

    loop    load_store
    ldr     r1, [r0]
    str     r1, [r5, #4]
    again

    loop    two_banks
    ldr     r1, [r0]
    ldr     r2, [r0, #4]
    again

    loop    same_bank
    ldr     r1, [r0]
    ldr     r2, [r0, #8]
    again

    loop    store_pair
    str     r1, [r5, #4]
    str     r1, [r5, #8]
    again

    loop    address_late
    adds    r1, r0, #4
    nop
    ldr     r2, [r1]
    again

    loop    update_address
    ldr     r1, [r6], #4
    ldr     r2, [r6]
    subs    r6, #4
    again

    loop    multiply_chain
    mla     r1, r2, r4, r1
    mla     r1, r2, r4, r1
    again

    loop    multiply_pair
    mla     r1, r2, r4, r1
    mla     r3, r2, r4, r3
    again

    loop    multiply_use
    mla     r1, r2, r4, r1
    add.w   r3, r1, r4
    again

    loop    multiply_store
    mul     r1, r2, r4
    str     r3, [r5, #4]
    again

    loop    lists
    ldmia   r0, {r1-r3, r8}
    stmia   r5, {r1-r3, r8}
    ldrd    r2, r3, [r0]
    again

    loop    divide
    movs    r2, #100
    movs    r3, #7
    udiv    r1, r2, r3
    again

    loop    branch_not_taken
    cmp     r4, #0
    beq     1f
1:  again

    loop    early_flags
    subs    r7, #1
    add.w   r1, r1, r4
    add.w   r1, r1, r4
    add.w   r1, r1, r4
    add.w   r1, r1, r4
    bne     loop_start
    bx      r9

    loop    call_frame
    bl      frame
    again

    .balign 4
    .type frame, %function
frame:
    push    {r4, lr}
    pop     {r4, pc}
