"""Memory-mapped peripherals for the emulator: as much of them as start-up and console code needs.

Registers read back what was written.  On top of that, `Derived` bits follow other registers (clock
ready follows clock enable), and three kinds of UART exchange bytes with a `Console`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_WORD = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Window:
    """A range of addresses that belong to peripherals.

    Attributes:
        origin: first address, a multiple of 4096.
        size_bytes: size, a multiple of 4096.
        atomic_aliases: RP2040's: address bits 12 and 13 select plain, XOR, set or clear access.
    """

    origin: int
    size_bytes: int
    atomic_aliases: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """Bits of a register that hardware sets from another one.

    Attributes:
        register: address of the register that is read.
        mask: the bits that do not read back what was written.
        source: address of the register they depend on.
        bits: the bits (under `mask`) for a value of the source.
    """

    register: int
    mask: int
    source: int
    bits: Callable[[int], int]


def follows(register: int, source: int, enable: int, shift: int) -> Derived:
    """Status bits that are copies of the `enable` bits of `source`, `shift` places higher."""

    def copy(value: int) -> int:
        shifted = value & enable
        return (shifted << shift if shift >= 0 else shifted >> -shift) & _WORD

    return Derived(register, copy(_WORD), source, copy)


def always(register: int, bits: int) -> Derived:
    """Status bits that are always set."""
    return Derived(register, bits, register, lambda _: bits)


@dataclass(frozen=True, slots=True)
class UartKind:
    """A UART with status, receive and transmit registers.

    Attributes:
        status, receive, transmit: offsets of the registers.
        idle: status bits that are always set (transmitter ready and empty).
        input_flag: status bit about input.
        input_flag_means_empty: the bit is set when there is none.
    """

    status: int
    receive: int
    transmit: int
    idle: int
    input_flag: int
    input_flag_means_empty: bool = False

    def state(self, *, has_input: bool) -> int:
        """The status register."""
        flagged = has_input != self.input_flag_means_empty
        return self.idle | (self.input_flag if flagged else 0)


STM32_UART_V1 = UartKind(status=0x00, receive=0x04, transmit=0x04, idle=0xC0, input_flag=0x20)
"""SR and DR: TXE and TC set; RXNE.  Source: RM0390 25.6.1, RM0008 27.6.1."""

STM32_UART_V2 = UartKind(
    status=0x1C, receive=0x24, transmit=0x28, idle=0x0060_00C0, input_flag=0x20
)
"""ISR, RDR, TDR: REACK, TEACK, TXE, TC set; RXNE; LPUART too.  Source: RM0432 51.8.8."""

PL011 = UartKind(
    status=0x18, receive=0x00, transmit=0x00, idle=0x80, input_flag=0x10,
    input_flag_means_empty=True,
)  # fmt: skip
"""UARTFR: TXFE set, BUSY and TXFF clear; RXFE.  Source: Arm DDI 0183 3.3.3."""


@dataclass(frozen=True, slots=True)
class Family:
    """Peripherals of one family of microcontrollers.

    Attributes:
        uart: kind of the console.
        uarts: base address of each UART by its name in the reference manual.
        derived: status bits that follow other registers.
        reset_values: registers that are not 0 after reset, by address.
        windows: the address ranges of peripherals.
    """

    uart: UartKind
    uarts: Mapping[str, int]
    derived: tuple[Derived, ...] = ()
    reset_values: Mapping[int, int] = field(default_factory=dict)
    windows: tuple[Window, ...] = (Window(0x4000_0000, 0x2000_0000),)


@dataclass(slots=True)
class Console:
    """The two ends of the UART.

    Attributes:
        to_firmware: bytes that wait to be received.
        from_firmware: bytes that were sent.
        starved: the firmware asked for input when there was none.
    """

    to_firmware: deque[int] = field(default_factory=deque)
    from_firmware: bytearray = field(default_factory=bytearray)
    starved: bool = False


_SYST_CVR = 0xE000_E018
_DWT_CYCCNT = 0xE000_1004
_AIRCR = 0xE000_ED0C
_SYSRESETREQ = 1 << 2
_IDLE_POLLS = 8

CORE_WINDOW = Window(0xE000_0000, 0x0010_0000)
"""The private peripheral bus.  Source: Armv7-M ARM (DDI 0403E) B3.1."""


class PeripheralBus:
    """Serves reads and writes of peripheral addresses.

    Time does not exist here: both cycle counters merely advance by one at each read, so that code
    that waits for them goes on.

    Args:
        family: the microcontroller's peripherals.
        uart_base: address of the UART that is the console.
        console: what it is connected to.
        stop: called when the firmware must not go on (no input, reset).
    """

    def __init__(
        self, family: Family, uart_base: int, console: Console, stop: Callable[[], None]
    ) -> None:
        self.reset_requested = False
        self._console = console
        self._stop = stop
        self._uart = family.uart
        self._status = uart_base + family.uart.status
        self._receive = uart_base + family.uart.receive
        self._transmit = uart_base + family.uart.transmit
        self._registers = dict(family.reset_values)
        self._derived: dict[int, list[Derived]] = {}
        for rule in family.derived:
            self._derived.setdefault(rule.register, []).append(rule)
        self._ticks = 0
        self._idle_polls = 0

    def read(self, address: int) -> int:
        """Value of the word at `address`, a multiple of 4."""
        console = self._console
        if address == self._status:
            return self._read_status()
        if address == self._receive:
            self._idle_polls = 0
            return console.to_firmware.popleft() if console.to_firmware else 0
        if address in (_DWT_CYCCNT, _SYST_CVR):
            self._ticks += 1
            return self._ticks & _WORD if address == _DWT_CYCCNT else -self._ticks & 0xFF_FFFF
        value = self._registers.get(address, 0)
        for rule in self._derived.get(address, ()):
            value = (value & ~rule.mask) | rule.bits(self._registers.get(rule.source, 0))
        return value

    def _read_status(self) -> int:
        """The UART's status; stops firmware that does nothing but ask for input that is not there.

        One read may be about the transmitter; several without any byte moved are a wait for input.
        """
        has_input = bool(self._console.to_firmware)
        self._idle_polls = 0 if has_input else self._idle_polls + 1
        if self._idle_polls >= _IDLE_POLLS:
            self._console.starved = True
            self._stop()
        return self._uart.state(has_input=has_input)

    def write(self, address: int, value: int) -> None:
        """Store the word at `address`, a multiple of 4."""
        if address == self._transmit:
            self._idle_polls = 0
            self._console.from_firmware.append(value & 0xFF)
            return
        if address == _AIRCR and value & _SYSRESETREQ:
            self.reset_requested = True
            self._stop()
        self._registers[address] = value
