@ Cortex-M33: one loop a measured rule (see edgec/timing/core_m33.py).
    .include "loop.inc"

    loop    alu_single
    adds    r1, r1, r2
    adds    r2, #1
    adds    r3, #1
    again

    loop    load_use
    ldr     r1, [r0]
    adds    r2, r1, r2
    again

    loop    load_free
    ldr     r1, [r0]
    adds    r2, #1
    adds    r3, r1, r3
    again

    loop    load_addend
    ldr     r1, [r0]
    mla     r2, r3, r4, r1
    again

    loop    load_factor
    ldr     r1, [r0]
    mla     r2, r1, r4, r3
    again

    loop    load_store
    ldr     r1, [r0]
    str     r1, [r5, #4]
    again

    loop    load_load
    ldr     r1, [r0]
    ldr     r2, [r0, #4]
    ldrb    r3, [r0, #8]
    again

    loop    address_free
    adds    r1, r0, #4
    ldr     r2, [r1]
    again

    loop    multiply_chain
    mla     r1, r2, r3, r1
    mla     r1, r2, r3, r1
    again

    loop    multiply_use
    mla     r1, r2, r3, r1
    adds    r2, r1, r2
    again

    loop    multiply_store
    mla     r1, r2, r3, r1
    str     r1, [r5, #4]
    again

    loop    multiply_flags
    muls    r1, r2, r1
    again

    loop    shifted_use
    add.w   r1, r2, r3, lsl #2
    add     r3, r1
    again

    loop    extend_add
    sxtab   r1, r2, r3
    sxtab   r1, r1, r3
    sxtab   r1, r2, r1
    again

    loop    rotated_flags
    adds.w  r1, r2, #0x1fc0
    movs.w  r1, #0x1fc0
    again

    loop    lists
    ldrd    r2, r3, [r0]
    strd    r2, r3, [r5, #8]
    ldmia   r0, {r1-r3, r8}
    push    {r1-r4}
    pop     {r1-r4}
    again

    loop    it_folded
    adds    r3, #1
    it      mi
    addmi   r2, #1
    again

    loop    it_behind_wide
    cmp.w   r1, r1
    it      eq
    addeq   r2, #1
    again

    loop    branch_not_taken
    adds    r3, #1
    bmi     1f
1:  again

    loop    branch_folds
    subs    r7, #1
    add     r1, r2
    bne     loop_start
    bx      r9

    loop    divide
    movs    r2, #100
    movs    r3, #7
    udiv    r1, r2, r3
    again

    loop    call_frame
    bl      frame
    again

    loop    fused
    vfma.f32    s0, s2, s3
    vfma.f32    s1, s2, s3
    again

    .balign 4
    .type frame, %function
frame:
    push    {r4, lr}
    pop     {r4, pc}
