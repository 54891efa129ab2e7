"""Peripherals of RP2040 and RP2350: resets, oscillator, PLLs, clock multiplexers, PL011 UARTs.

Sources: RP2040 datasheet, 2.2 address map, 2.1.2 atomic register access, 2.14 resets, 2.15 clocks,
2.16 XOSC, 2.18 PLL, 4.2 UART; RP2350 datasheet, 2.2, 2.1.3, 7.5, 8.1, 8.2, 8.6, 12.1.
"""

from __future__ import annotations

from edgec.sim.peripherals import PL011, Derived, Family, Window, always


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
