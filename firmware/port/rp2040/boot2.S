/* Second-stage boot loader of the RP2040.  The boot ROM copies the first 256 bytes of flash to SRAM,
 * checks their CRC and jumps there.  This one sets the flash controller to plain serial reads
 * (command 03h, which every flash chip knows), then starts the program after it.
 *
 * It runs at another address than it is linked to, so it uses relative branches and loads alone.
 * boot2_image.c holds the assembled bytes with their CRC; tests/firmware/test_build_boot2.py checks
 * that they belong together.
 *
 * Source: RP2040 datasheet 2.8.1.3 (boot sequence) and 4.10.11 (SSI registers). */
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .section .text

    .equ SSI_BASE, 0x18000000
    .equ SSI_CTRLR0, 0x00
    .equ SSI_CTRLR1, 0x04
    .equ SSI_SSIENR, 0x08
    .equ SSI_BAUDR, 0x14
    .equ SSI_SPI_CTRLR0, 0xF4
    .equ CTRLR0_EEPROM_READ_32, (31 << 16) | (3 << 8)     /* send address, receive 32 bits */
    .equ SPI_CTRLR0_READ_03, (0x03 << 24) | (2 << 8) | (6 << 2) /* 8-bit command, 24-bit address */
    .equ PROGRAM, 0x10000100
    .equ VTOR, 0xE000ED08

    push {lr}
    ldr r0, ssi_base
    movs r1, #0
    str r1, [r0, #SSI_SSIENR]
    movs r2, #4                  /* 125 MHz / 4 = 31 MHz; 03h is specified to 50 MHz */
    str r2, [r0, #SSI_BAUDR]
    ldr r2, ctrlr0
    str r2, [r0, #SSI_CTRLR0]
    str r1, [r0, #SSI_CTRLR1]    /* one word per transfer */
    ldr r2, spi_ctrlr0
    movs r3, #SSI_SPI_CTRLR0
    str r2, [r0, r3]
    movs r2, #1
    str r2, [r0, #SSI_SSIENR]
    pop {r0}
    cmp r0, #0
    beq start                    /* called by the boot ROM */
    bx r0                        /* called by a program to restore reading */
start:
    ldr r0, program
    ldr r1, vtor
    str r0, [r1]
    ldm r0!, {r1, r2}
    msr msp, r1
    bx r2
    .balign 4
ssi_base:
    .word SSI_BASE
ctrlr0:
    .word CTRLR0_EEPROM_READ_32
spi_ctrlr0:
    .word SPI_CTRLR0_READ_03
program:
    .word PROGRAM
vtor:
    .word VTOR
