"""Peripherals of the boards' families of microcontrollers.

Peripherals of the boards that QEMU emulates too: Arm's MPS2 images and the nRF51 (micro:bit).

Their firmware runs in Unicorn as well, to be traced.

Sources: Arm DDI 0479 (Cortex-M System Design Kit TRM) 4.3, APB UART; nRF51 Series Reference Manual
v3.0, chapters 12 (CLOCK), 18 (TIMER), 29 (UART).

Peripherals of the i.MX RT1060: DC-DC converter, PLLs, LPUART.

Source: i.MX RT1060 Processor Reference Manual rev. 3: 14.8 (PLLs), 18.7 (DCDC), 49.4 (LPUART).

Peripherals of RP2040 and RP2350: resets, oscillator, PLLs, clock multiplexers, PL011 UARTs.

Sources: RP2040 datasheet, 2.2 address map, 2.1.2 atomic register access, 2.14 resets, 2.15 clocks,
2.16 XOSC, 2.18 PLL, 4.2 UART; RP2350 datasheet, 2.2, 2.1.3, 7.5, 8.1, 8.2, 8.6, 12.1.

Peripherals of the STM32 families: clock and power status that start-up code waits for, UARTs.

Sources: reference manuals RM0008 (F1), RM0033 (F2), RM0090 (F405, F407), RM0390 (F446), RM0410
(F767), RM0432 (L4+), RM0433 (H743), RM0434 (WB), RM0455 (H7A3), RM0456 (U5), RM0444 (G0), RM0487
(U3; bits as in ST's header stm32u385xx.h);
chapters RCC and PWR (register maps) and "Memory map".
"""

from __future__ import annotations

import dataclasses

from edgec.sim.peripherals import (
    PL011,
    STM32_UART_V1,
    STM32_UART_V2,
    Derived,
    Family,
    UartKind,
    Window,
    always,
    follows,
)

_CMSDK_UART = UartKind(status=0x04, receive=0x00, transmit=0x00, idle=0, input_flag=0x02)
"""STATE and DATA: the transmit buffer is never full; bit 1 tells of a received byte."""

MPS2 = Family(uart=_CMSDK_UART, uarts={})  # the board file tells the base: PORT_UART_BASE

_NRF51_UART = UartKind(status=0x108, receive=0x518, transmit=0x51C, idle=0, input_flag=1)
"""RXDRDY, RXD and TXD; the event is a level here: set while there are bytes."""

_UART0 = 0x4000_2000
NRF51 = Family(
    uart=_NRF51_UART,
    uarts={"UART0": _UART0},
    derived=(
        always(0x4000_0100, 1),  # CLOCK HFCLKSTARTED
        always(_UART0 + 0x11C, 1),  # TXDRDY
    ),
)


_LPUART = UartKind(
    status=0x14, receive=0x1C, transmit=0x1C, idle=0x00C0_0000, input_flag=0x0020_0000
)
"""STAT and DATA: TDRE and TC set; RDRF."""

IMXRT1060 = Family(
    uart=_LPUART,
    uarts={"LPUART6": 0x4019_8000},
    derived=(
        always(0x4008_0000, 1 << 31),  # DCDC_REG0 STS_DC_OK
        always(0x400D_8000, 1 << 31),  # PLL_ARM LOCK
    ),
    reset_values={0x400D_8000: 0x0001_3063, 0x4008_000C: 0x0000_010E},
    windows=(Window(0x4000_0000, 0x0220_0000),),
)


def _selected(register: int, control: int, mask: int) -> Derived:
    """One bit that says which source a glitchless multiplexer has chosen."""
    return Derived(register, 0xFFFF_FFFF, control, lambda value: 1 << (value & mask))


def _rp2(
    *,
    clocks: int,
    resets: int,
    reset_bits: int,
    xosc: int,
    plls: tuple[int, int],
    uarts: tuple[int, int],
    system: Window,
) -> Family:
    """A chip of this kind by its address map; `system` holds the blocks on the faster bus."""
    return Family(
        uart=PL011,
        uarts={"UART0": uarts[0], "UART1": uarts[1]},
        derived=(
            Derived(resets + 8, reset_bits, resets, lambda value: ~value & reset_bits),
            always(xosc + 4, 0x8000_1000),  # STABLE, ENABLED
            *(always(pll, 1 << 31) for pll in plls),  # LOCK
            _selected(clocks + 0x38, clocks + 0x30, 0x3),  # CLK_REF
            _selected(clocks + 0x44, clocks + 0x3C, 0x1),  # CLK_SYS
            always(clocks + 0x50, 1),  # CLK_PERI has one source at a time
        ),
        reset_values={resets: reset_bits},
        windows=(
            Window(0x4000_0000, 0x0018_0000, atomic_aliases=True),
            system,
            Window(0xD000_0000, 0x0000_1000),  # SIO
        ),
    )


RP2040 = _rp2(
    clocks=0x4000_8000,
    resets=0x4000_C000,
    reset_bits=0x01FF_FFFF,
    xosc=0x4002_4000,
    plls=(0x4002_8000, 0x4002_C000),
    uarts=(0x4003_4000, 0x4003_8000),
    system=Window(0x5000_0000, 0x0040_0000, atomic_aliases=True),
)

RP2350 = _rp2(
    clocks=0x4001_0000,
    resets=0x4002_0000,
    reset_bits=0x1FFF_FFFF,
    xosc=0x4004_8000,
    plls=(0x4005_0000, 0x4005_8000),
    uarts=(0x4007_0000, 0x4007_8000),
    system=Window(0x5000_0000, 0x0070_0000, atomic_aliases=True),
)


_F_UARTS = {"USART1": 0x4001_1000, "USART2": 0x4000_4400, "USART3": 0x4000_4800}

_RCC_F1 = 0x4002_1000
STM32F1 = Family(
    uart=STM32_UART_V1,
    uarts={**_F_UARTS, "USART1": 0x4001_3800},
    derived=(
        follows(_RCC_F1, _RCC_F1, 0x0101_0001, 1),  # HSI, HSE, PLL: RDY = ON << 1
        follows(_RCC_F1 + 4, _RCC_F1 + 4, 0x3, 2),  # SWS = SW
    ),
    reset_values={_RCC_F1: 0x83},
)

_RCC_F4 = 0x4002_3800
_PWR_F4 = 0x4000_7000
STM32F4 = Family(  # F2 too: the same RCC, and no over-drive bits that it could miss
    uart=STM32_UART_V1,
    uarts=_F_UARTS,
    derived=(
        follows(_RCC_F4, _RCC_F4, 0x1501_0001, 1),  # HSI, HSE, PLL, PLLI2S, PLLSAI
        follows(_RCC_F4 + 8, _RCC_F4 + 8, 0x3, 2),  # SWS = SW
        follows(_PWR_F4 + 4, _PWR_F4, 0x0003_0000, 0),  # ODRDY, ODSWRDY = ODEN, ODSWEN
        always(_PWR_F4 + 4, 1 << 14),  # VOSRDY
    ),
    reset_values={_RCC_F4: 0x83, _RCC_F4 + 4: 0x2400_3010, _PWR_F4: 0xC000},
)

STM32F7 = dataclasses.replace(STM32F4, uart=STM32_UART_V2)  # the same RCC and PWR, a newer USART

_RCC_L4 = 0x4002_1000
STM32L4 = Family(
    uart=STM32_UART_V2,
    uarts={
        "USART1": 0x4001_3800,
        "USART2": 0x4000_4400,
        "USART3": 0x4000_4800,
        "LPUART1": 0x4000_8000,
    },
    derived=(
        follows(_RCC_L4, _RCC_L4, 0x1501_0001, 1),  # MSI, HSE, PLL, PLLSAI1, PLLSAI2
        follows(_RCC_L4, _RCC_L4, 0x100, 2),  # HSI
        follows(_RCC_L4 + 8, _RCC_L4 + 8, 0x3, 2),  # SWS = SW
    ),
    reset_values={_RCC_L4: 0x61, 0x4000_7000: 0x200},
)

_RCC_G0 = 0x4002_1000
STM32G0 = Family(
    uart=STM32_UART_V2,
    uarts=STM32L4.uarts,
    derived=(
        follows(_RCC_G0, _RCC_G0, 0x100, 2),  # HSI
        follows(_RCC_G0, _RCC_G0, 0x0101_0000, 1),  # HSE, PLL
        follows(_RCC_G0 + 8, _RCC_G0 + 8, 0x7, 3),  # SWS = SW
    ),
    reset_values={_RCC_G0: 0x500, 0x4000_7000: 0x208},
)

_RCC_H7 = 0x5802_4400
_PWR_H7 = 0x5802_4800
STM32H7 = Family(
    uart=STM32_UART_V2,
    uarts={**_F_UARTS, "LPUART1": 0x5800_0C00},
    derived=(
        follows(_RCC_H7, _RCC_H7, 0x1, 2),  # HSI
        follows(_RCC_H7, _RCC_H7, 0x1501_1080, 1),  # CSI, HSI48, HSE, PLL1, PLL2, PLL3
        always(_RCC_H7, 0xC004),  # D1CKRDY, D2CKRDY
        follows(_RCC_H7 + 0x10, _RCC_H7 + 0x10, 0x7, 3),  # SWS = SW
        always(_PWR_H7 + 0x04, 1 << 13),  # ACTVOSRDY
        follows(_PWR_H7 + 0x04, _PWR_H7 + 0x18, 0xC000, 0),  # ACTVOS = VOS
        always(_PWR_H7 + 0x18, 1 << 13),  # VOSRDY
    ),
    reset_values={_RCC_H7: 0x1},
)

_RCC_U5 = 0x4602_0C00
_PWR_U5 = 0x4602_0800
STM32U5 = Family(
    uart=STM32_UART_V2,
    uarts={**STM32L4.uarts, "LPUART1": 0x4600_2400},
    derived=(
        follows(_RCC_U5, _RCC_U5, 0x101, 2),  # MSIS, HSI
        follows(_RCC_U5, _RCC_U5, 0x1501_1010, 1),  # MSIK, HSI48, HSE, PLL1, PLL2, PLL3
        follows(_RCC_U5 + 0x1C, _RCC_U5 + 0x1C, 0x3, 2),  # SWS = SW
        always(_PWR_U5 + 0x0C, 1 << 15),  # VOSRDY
        follows(_PWR_U5 + 0x0C, _PWR_U5 + 0x0C, 1 << 18, -4),  # BOOSTRDY = BOOSTEN
        follows(_PWR_U5 + 0x3C, _PWR_U5 + 0x0C, 0x0003_0000, 0),  # ACTVOS = VOS
        follows(_PWR_U5 + 0x3C, _PWR_U5 + 0x08, 0x2, 0),  # REGS = REGSEL
        always(_PWR_U5 + 0x3C, 1 << 15),  # ACTVOSRDY
    ),
    reset_values={_RCC_U5: 0x35},
)

_RCC_U3 = 0x4003_0C00
_PWR_U3 = 0x4003_0800
STM32U3 = Family(
    uart=STM32_UART_V2,
    uarts={"USART1": STM32L4.uarts["USART1"], "LPUART1": 0x4004_2400},
    derived=(
        follows(_RCC_U3, _RCC_U3, 0x801, 2),  # MSIS, HSI
        follows(_RCC_U3, _RCC_U3, 0x1_4008, 1),  # MSIK, HSI48, HSE
        follows(_RCC_U3 + 0x1C, _RCC_U3 + 0x1C, 0x3, 2),  # SWS = SW
        follows(_PWR_U3 + 0x0C, _PWR_U3 + 0x0C, 0x103, 16),  # R1RDY, R2RDY, BOOSTRDY
        follows(_PWR_U3 + 0x3C, _PWR_U3 + 0x08, 0x2, 0),  # REGS = REGSEL
    ),
    reset_values={_RCC_U3: 0x5, _PWR_U3 + 0x0C: 0x2_0002},
)

_RCC_WB = 0x5800_0000
STM32WB = Family(
    uart=STM32_UART_V2,
    uarts={"USART1": 0x4001_3800, "LPUART1": 0x4000_8000},
    derived=(
        follows(_RCC_WB, _RCC_WB, 0x0501_0001, 1),  # MSI, HSE, PLL, PLLSAI1
        follows(_RCC_WB, _RCC_WB, 0x100, 2),  # HSI
        follows(_RCC_WB + 8, _RCC_WB + 8, 0x3, 2),  # SWS = SW
    ),
    reset_values={_RCC_WB: 0x61, 0x5800_0400: 0x200},
)
