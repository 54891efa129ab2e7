@ Cortex-M3 and Cortex-M4: one loop a rule of the manuals' sections 3.3.1 and 3.3.2.
    .include "loop.inc"

    loop    alu
    add.w   r1, r1, r2, lsl #2
    ubfx    r1, r1, #3, #4
    bfi     r1, r2, #3, #4
    clz     r1, r1
    rev     r1, r1
    sxtb    r1, r1
    ssat    r1, #8, r1
    movw    r1, #1234
    again

    loop    load_load
    ldr     r1, [r0]
    ldr     r2, [r0, #4]
    ldrsb   r3, [r0, r4]
    again

    loop    load_alu_load
    ldr     r1, [r0]
    adds    r2, #1
    ldr     r3, [r0]
    again

    loop    load_chain
    ldr     r1, [r0]
    ldr     r2, [r1]
    again

    loop    address_stall
    adds    r1, r0, #4
    ldr     r2, [r1]
    again

    loop    address_stall_store
    adds    r1, r4, #4
    str     r2, [r0, r1]
    again

    loop    no_address_stall
    adds    r1, r0, #4
    adds    r3, #1
    ldr     r2, [r1]
    again

    loop    store_store
    str     r1, [r5, #4]
    strb    r1, [r5, #8]
    again

    loop    store_load
    str     r1, [r5, #4]
    ldr     r2, [r0]
    again

    loop    load_store
    ldr     r1, [r0]
    str     r1, [r5, #4]
    again

    loop    load_store_index
    ldr     r1, [r0]
    str     r1, [r5, r4]
    again

    loop    store_index
    adds    r1, #1
    str     r1, [r5, r4]
    again

    loop    doubles
    ldrd    r2, r3, [r0]
    strd    r2, r3, [r5, #8]
    again

    loop    multiples
    ldmia   r0, {r1-r3, r8}
    stmia   r5, {r1-r3, r8}
    again

    loop    push_pop
    push    {r1-r4}
    pop     {r1-r4}
    again

    loop    updates
    ldr     r1, [r5], #4
    ldr     r2, [r6], #4
    subs    r5, #4
    subs    r6, #4
    again

    loop    update_same_base
    ldr     r1, [r5], #4
    ldr     r2, [r5]
    subs    r5, #4
    again

    loop    literal_load
    ldr.w   r1, literal
    again
    .balign 4
literal:
    .word   1

    loop    exclusive
    ldrex   r1, [r5]
    strex   r2, r1, [r5]
    again

    loop    multiply
    mul     r1, r2, r3
    mla     r1, r2, r3, r1
    mls     r1, r2, r3, r1
    again

    loop    multiply_long
    umull   r1, r2, r3, r4
    smull   r1, r2, r3, r4
    umlal   r1, r2, r3, r4
    smlal   r1, r2, r3, r4
    again

    loop    divide
    movs    r2, #100
    movs    r3, #7
    udiv    r1, r2, r3
    again

    loop    it_folded
    cmp     r1, r1
    it      eq
    addeq   r2, #1
    again

    loop    it_behind_wide
    cmp.w   r1, r1
    it      eq
    addeq   r2, #1
    again

    loop    branch_not_taken
    cmp     r1, r1
    bne     1f
1:  again

    loop    branch_taken
    cmp     r1, r1
    beq     1f
    nop
    nop
    nop
1:  again

    loop    branch_to_split_wide
    b       1f
    nop
    nop
1:  add.w   r1, r2, r3
    again

    loop    branch_to_split_narrow
    b       1f
    nop
    nop
1:  adds    r1, r2, r3
    again

    loop    compare_branch
    movs    r1, #0
    cbz     r1, 1f
    nop
    nop
    nop
1:  cbnz    r1, 2f
2:  again

    loop    call_leaf
    bl      leaf
    again

    loop    call_fresh_lr
    bl      leaf_fresh
    again

    loop    call_register
    ldr.w   r1, =leaf
    blx     r1
    again
    .ltorg

    loop    call_frame
    bl      frame
    again

    loop    call_frame_load
    bl      frame_load
    again

    loop    table_branch
    movs    r1, #0
    tbb     [pc, r1]
    .byte   1, 1
1:  again

    loop    special
    mrs     r1, primask
    dsb
    isb
    again

    .balign 4
    .type leaf, %function
leaf:
    bx      lr

    .balign 4
    .type leaf_fresh, %function
leaf_fresh:
    mov     lr, lr
    bx      lr

    .balign 4
    .type frame, %function
frame:
    push    {r4, lr}
    pop     {r4, pc}

    .balign 4
    .type frame_load, %function
frame_load:
    str     lr, [sp, #-4]!
    ldr     pc, [sp], #4
