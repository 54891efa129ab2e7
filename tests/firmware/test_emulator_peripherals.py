"""Peripheral models: registers, derived status bits, consoles."""

from __future__ import annotations

import pytest

from edgec.sim.peripherals import (
    PL011,
    STM32_UART_V1,
    STM32_UART_V2,
    Console,
    Family,
    PeripheralBus,
    UartKind,
    always,
    follows,
)
from edgec.sim.peripherals_boards import (
    IMXRT1060,
    RP2040,
    RP2350,
    STM32F1,
    STM32F4,
    STM32G0,
    STM32H7,
    STM32L4,
    STM32U5,
)

UART = 0x4000_4400


class Stop:
    """Counts how often the bus asked the emulator to stop."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def make_bus(family: Family) -> tuple[PeripheralBus, Console, Stop]:
    console = Console()
    stop = Stop()
    return PeripheralBus(family, UART, console, stop), console, stop


def test_registers_read_back() -> None:
    bus, _, _ = make_bus(Family(STM32_UART_V1, {}, reset_values={0x4000_0000: 7}))
    assert bus.read(0x4000_0000) == 7
    assert bus.read(0x4000_0004) == 0
    bus.write(0x4000_0004, 0xFFFF_FFFF)
    assert bus.read(0x4000_0004) == 0xFFFF_FFFF


def test_derived_bits() -> None:
    rules = (follows(0x100, 0x100, 0x0101, 1), follows(0x104, 0x100, 0x100, -4), always(0x108, 6))
    bus, _, _ = make_bus(Family(STM32_UART_V1, {}, rules))
    assert [bus.read(address) for address in (0x100, 0x104, 0x108)] == [0, 0, 6]
    bus.write(0x100, 0x0103)  # bit 1 is derived, so writing it means nothing
    assert bus.read(0x100) == 0x0303
    assert bus.read(0x104) == 0x10
    bus.write(0x100, 0)
    assert bus.read(0x100) == 0
    bus.write(0x108, 0)
    assert bus.read(0x108) == 6


@pytest.mark.parametrize("kind", [STM32_UART_V1, STM32_UART_V2, PL011])
def test_uart(kind: UartKind) -> None:
    bus, console, stop = make_bus(Family(kind, {}))
    empty = bus.read(UART + kind.status)
    console.to_firmware.extend(b"ab")
    full = bus.read(UART + kind.status)
    assert empty ^ full == kind.input_flag
    assert bus.read(UART + kind.receive) == ord("a")
    bus.write(UART + kind.transmit, ord("X") | 0x100)
    assert bytes(console.from_firmware) == b"X"
    assert bus.read(UART + kind.receive) == ord("b")
    assert bus.read(UART + kind.status) == empty
    assert bus.read(UART + kind.receive) == 0
    assert stop.count == 0


def test_waiting_for_input_stops_the_emulator() -> None:
    bus, console, stop = make_bus(Family(STM32_UART_V1, {}))
    for _ in range(100):  # sending: one look at the status for each byte
        bus.read(UART)
        bus.write(UART + 4, 0)
    assert not console.starved
    for _ in range(20):
        bus.read(UART)
    assert console.starved
    assert stop.count > 0
    console.to_firmware.append(1)
    before = stop.count
    bus.read(UART)
    assert stop.count == before


def test_counters_move_on() -> None:
    bus, _, _ = make_bus(Family(STM32_UART_V1, {}))
    cycles = [bus.read(0xE000_1004) for _ in range(3)]
    assert cycles == sorted(set(cycles))
    ticks = [bus.read(0xE000_E018) for _ in range(3)]
    assert ticks == sorted(set(ticks), reverse=True)
    assert all(0 < tick < 1 << 24 for tick in ticks)


def test_reset_request() -> None:
    bus, _, stop = make_bus(Family(STM32_UART_V1, {}))
    bus.write(0xE000_ED0C, 0x05FA_0000)
    assert not bus.reset_requested
    bus.write(0xE000_ED0C, 0x05FA_0004)
    assert bus.reset_requested
    assert stop.count == 1


@pytest.mark.parametrize(
    ("family", "register", "written", "ready"),
    [
        (STM32F1, 0x4002_1000, 1 << 24, 1 << 25),
        (STM32F1, 0x4002_1004, 2, 2 << 2),
        (STM32F4, 0x4002_3800, 1 << 16, 1 << 17),
        (STM32F4, 0x4002_3808, 2, 2 << 2),
        (STM32L4, 0x4002_1000, 1 << 8, 1 << 10),
        (STM32L4, 0x4002_1008, 3, 3 << 2),
        (STM32G0, 0x4002_1008, 2, 2 << 3),
        (STM32H7, 0x5802_4400, 1 << 24, 1 << 25),
        (STM32H7, 0x5802_4410, 3, 3 << 3),
        (STM32U5, 0x4602_080C, 1 << 18, 1 << 14),
        (STM32U5, 0x4602_0C1C, 3, 3 << 2),
        (RP2040, 0x4000_8038, 0, 1),
    ],
)
def test_ready_follows_enable(family: Family, register: int, written: int, ready: int) -> None:
    bus, _, _ = make_bus(family)
    bus.write(register, written)
    assert bus.read(register) & ready == ready
    bus.write(register, 0)
    if written:
        assert bus.read(register) & ready == 0


def test_rp2040_resets_and_clock_multiplexers() -> None:
    bus, _, _ = make_bus(RP2040)
    assert bus.read(0x4000_C008) == 0  # all blocks start in reset
    bus.write(0x4000_C000, 0x01FF_FFFF & ~(1 << 22))
    assert bus.read(0x4000_C008) == 1 << 22
    bus.write(0x4000_8030, 2)
    assert bus.read(0x4000_8038) == 1 << 2


@pytest.mark.parametrize(
    "family", [STM32F1, STM32F4, STM32G0, STM32H7, STM32L4, STM32U5, RP2040, RP2350, IMXRT1060]
)
def test_tables_are_consistent(family: Family) -> None:
    def is_peripheral(address: int) -> bool:
        return any(
            window.origin <= address < window.origin + window.size_bytes
            for window in family.windows
        )

    for rule in family.derived:
        assert rule.mask
        assert rule.bits(0xFFFF_FFFF) & ~rule.mask == 0
        assert is_peripheral(rule.register)
        assert is_peripheral(rule.source)
    assert all(is_peripheral(base) for base in family.uarts.values())
    assert all(is_peripheral(address) for address in family.reset_values)
    assert all(w.origin % 4096 == 0 and w.size_bytes % 4096 == 0 for w in family.windows)
