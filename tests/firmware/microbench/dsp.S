@ Cortex-M4: the DSP extension and the single-precision FPU.
    .include "loop.inc"

    loop    dsp
    smlad   r1, r2, r3, r1
    sxtb16  r2, r1, ror #8
    sxtab16 r2, r1, r2
    ssat16  r2, #8, r2
    smmulr  r2, r1, r3
    pkhbt   r2, r1, r3, lsl #16
    qadd    r2, r1, r3
    uadd8   r2, r1, r3
    smlald  r1, r2, r3, r4
    again

    loop    vfp_independent
    vadd.f32    s0, s2, s3
    vmul.f32    s1, s2, s3
    vabs.f32    s4, s2
    again

    loop    vfp_dependent
    vadd.f32    s0, s2, s3
    vmul.f32    s1, s0, s3
    again

    loop    vfp_multiply_add
    vfma.f32    s0, s2, s3
    vmla.f32    s1, s2, s3
    again

    loop    vfp_divide
    vdiv.f32    s0, s2, s3
    vsqrt.f32   s1, s2
    again

    loop    vfp_memory
    vldr    s0, [r0]
    vstr    s0, [r5, #4]
    vldr    d1, [r0]
    vldmia  r0, {s4-s7}
    vpush   {d2-d3}
    vpop    {d2-d3}
    again

    loop    vfp_moves
    vmov.f32    s0, s1
    vmov    s0, r1
    vmov    r1, s0
    vmov    r1, r2, d0
    vmov.f32    s0, #1.0
    vcmp.f32    s0, s1
    vmrs    apsr_nzcv, fpscr
    again
