"""Peripherals of the RP2040: resets, oscillator, PLLs, clock multiplexers, PL011 UARTs.

Source: RP2040 datasheet, 2.2 address map, 2.1.2 atomic register access, 2.14 resets, 2.15 clocks,
2.16 XOSC, 2.18 PLL, 4.2 UART.
"""

from __future__ import annotations

from edgec.sim.peripherals import PL011, Derived, Family, Window, always

_CLOCKS = 0x4000_8000
_RESETS = 0x4000_C000
_XOSC = 0x4002_4000
_PLLS = (0x4002_8000, 0x4002_C000)
_RESET_BITS = 0x01FF_FFFF


def _selected(register: int, control: int, mask: int) -> Derived:
    """One bit that says which source a glitchless multiplexer has chosen."""
    return Derived(register, 0xFFFF_FFFF, control, lambda value: 1 << (value & mask))


RP2040 = Family(
    uart=PL011,
    uarts={"UART0": 0x4003_4000, "UART1": 0x4003_8000},
    derived=(
        Derived(_RESETS + 8, _RESET_BITS, _RESETS, lambda value: ~value & _RESET_BITS),
        always(_XOSC + 4, 0x8000_1000),  # STABLE, ENABLED
        *(always(pll, 1 << 31) for pll in _PLLS),  # LOCK
        _selected(_CLOCKS + 0x38, _CLOCKS + 0x30, 0x3),  # CLK_REF
        _selected(_CLOCKS + 0x44, _CLOCKS + 0x3C, 0x1),  # CLK_SYS
        always(_CLOCKS + 0x50, 1),  # CLK_PERI has one source at a time
    ),
    reset_values={_RESETS: _RESET_BITS},
    windows=(
        Window(0x4000_0000, 0x0007_0000, atomic_aliases=True),
        Window(0x5000_0000, 0x0040_0000, atomic_aliases=True),
        Window(0xD000_0000, 0x0000_1000),  # SIO
    ),
)
