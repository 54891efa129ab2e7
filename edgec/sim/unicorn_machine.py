"""A board's memory and peripherals around Unicorn's Cortex-M, as a byte stream to its console.

Unless a tracer watches, no hook runs per instruction or block and only peripheral accesses call
Python, so code runs at hundreds of millions of instructions a second.  What this cannot show:
interrupts, and unaligned accesses on Armv6-M, which Unicorn performs and a Cortex-M0+ refuses (as
does QEMU's microbit, so that board is where such a bug would show).

Unicorn is licensed under the GPLv2 and an optional extra: this module and the tracers alone import
it, and are themselves imported only when needed.
"""

from __future__ import annotations

import time
from typing import Any

import unicorn as _untyped_unicorn

from edgec.base.errors import InternalError, SimulationError
from edgec.base.interrupts import interrupts_deferred
from edgec.sim.address_space import check_address_space
from edgec.sim.emulator_image import FirmwareImage
from edgec.sim.peripherals import CORE_WINDOW, Console, Family, PeripheralBus, Window
from edgec.sim.peripherals_boards import (
    IMXRT1060,
    MPS2,
    NRF51,
    RP2040,
    RP2350,
    STM32F1,
    STM32F4,
    STM32F7,
    STM32G0,
    STM32H7,
    STM32L4,
    STM32U3,
    STM32U5,
    STM32WB,
)
from edgec.sim.trace_records import Tracer
from edgec.target.board import Board
from edgec.target.cores import Core

_unicorn: Any = _untyped_unicorn
_arm: Any = _untyped_unicorn.arm_const
_const: Any = _untyped_unicorn.unicorn_const

_PAGE = 4096
_NEVER = 0xFFFF_FFFE  # an address execution does not reach: emulation ends by other means

FAMILIES = {
    "stm32f1": STM32F1,
    "stm32f2": STM32F4,
    "stm32f4": STM32F4,
    "stm32f7": STM32F7,
    "stm32g0": STM32G0,
    "stm32h7": STM32H7,
    "stm32h743": STM32H7,
    "stm32l4": STM32L4,
    "stm32u3": STM32U3,
    "stm32u5": STM32U5,
    "stm32wb": STM32WB,
    "rp2040": RP2040,
    "rp2350": RP2350,
    "imxrt1060": IMXRT1060,
    "mps2": MPS2,
    "nrf51": NRF51,
    "nrf52": NRF51,
}
"""Peripheral models by the board's port."""

_CPU_MODELS = {
    Core.CORTEX_M0: _arm.UC_CPU_ARM_CORTEX_M0,
    Core.CORTEX_M0PLUS: _arm.UC_CPU_ARM_CORTEX_M0,  # both are Armv6-M
    Core.CORTEX_M3: _arm.UC_CPU_ARM_CORTEX_M3,
    Core.CORTEX_M4: _arm.UC_CPU_ARM_CORTEX_M4,
    Core.CORTEX_M7: _arm.UC_CPU_ARM_CORTEX_M7,
    Core.CORTEX_M33: _arm.UC_CPU_ARM_CORTEX_M33,
}

_EXCEPTIONS = {
    1: "an undefined instruction",
    2: "an SVC instruction",
    3: "a fetch from forbidden memory",
    4: "an access to forbidden memory",
    7: "a BKPT instruction",
    17: "a coprocessor or FPU instruction",
    18: "an invalid state (branch to an even address)",
}
"""Names of QEMU's exception numbers.  Source: QEMU target/arm/cpu.h, EXCP_*."""


class UnicornMachine:
    """Emulated board; time advances only inside `read`.

    Args:
        image: the firmware.
        board: a board whose port has an entry in `FAMILIES`.
        slice_s: longest time that Python is not in control.

    Raises:
        SimulationError: there are no models of the board's peripherals.
    """

    def __init__(self, image: FirmwareImage, board: Board, slice_s: float = 0.25) -> None:
        self._image = image
        self._slice_s = slice_s
        family, uart_base = _family(board)
        self._console = Console()
        self._uc = _make_cpu(board)
        self._bus = PeripheralBus(family, uart_base, self._console, self._uc.emu_stop)
        self._violation = ""
        self._tracer: Tracer | None = None
        _map_memory(self._uc, board, image)
        for window in (*family.windows, CORE_WINDOW):
            _map_window(self._uc, window, self._bus)
        self._watch_faults()
        self._reset()

    def watch(self, tracer: Tracer) -> None:
        """Let a tracer see all that runs from now on.

        Python is not in control any more while the firmware computes: where it was stopped would
        show in the counts.
        """
        self._uc.ctl_flush_tb()  # code that was translated before calls no hooks
        tracer.attach(self._uc)
        self._tracer = tracer

    def write(self, data: bytes) -> None:
        """Queue bytes for the firmware to receive."""
        self._console.to_firmware.extend(data)
        self._console.starved = False

    def read(self, timeout_s: float) -> bytes:
        """Run until the firmware waits for input, or time is up; what it has sent.

        Empty when it sent nothing: it waits for input, or needs more time.

        Raises:
            SimulationError: a fault, with program counter and function.
        """
        deadline = time.monotonic() + timeout_s
        while not self._console.starved and not self._console.from_firmware:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                break
            self._run(min(remaining, self._slice_s))
        sent = bytes(self._console.from_firmware)
        self._console.from_firmware.clear()
        return sent

    def _run(self, seconds: float) -> None:
        """Go on for at most this time; Python sees Ctrl-C only in between."""
        start = self._uc.reg_read(_arm.UC_ARM_REG_PC)
        began = time.monotonic()
        limit_us = 0 if self._tracer else max(int(seconds * 1e6), 1)
        try:
            # An exception in a peripheral's callback would be lost in the emulator's C code.
            with interrupts_deferred():
                self._uc.emu_start(start | 1, _NEVER, timeout=limit_us)
        except _unicorn.UcError as error:
            raise self._stopped(self._violation or _describe(error)) from error
        if self._tracer is not None:
            self._tracer.check()
        if self._violation:
            raise self._stopped(self._violation)
        if self._bus.reset_requested:
            raise self._stopped("the firmware reset itself")
        timed_out = time.monotonic() - began >= 0.9 * seconds
        if not self._console.starved and not timed_out:
            raise self._stopped("the firmware halted")

    def _stopped(self, what: str) -> SimulationError:
        pc, lr, sp = (
            self._uc.reg_read(register)
            for register in (_arm.UC_ARM_REG_PC, _arm.UC_ARM_REG_LR, _arm.UC_ARM_REG_SP)
        )
        unread = self._console.from_firmware.decode("ascii", errors="replace").strip()
        console = f"\n  console: {unread[-400:]}" if unread else ""
        return SimulationError(
            f"{what}\n  at {self._image.locate(pc)}"
            f"\n  called from {self._image.locate(lr & ~1)}\n  sp {sp:#010x}{console}"
        )

    def _watch_faults(self) -> None:
        accesses = {
            _const.UC_MEM_READ_UNMAPPED: ("read", "where nothing is"),
            _const.UC_MEM_WRITE_UNMAPPED: ("write", "where nothing is"),
            _const.UC_MEM_FETCH_UNMAPPED: ("instruction fetch", "where nothing is"),
            _const.UC_MEM_WRITE_PROT: ("write", "which is flash"),
        }

        def on_bad_access(
            _uc: object, access: int, address: int, size: int, _value: int, _data: object
        ) -> bool:
            what, why = accesses.get(access, ("access", "which is not possible"))
            self._violation = f"{what} of {size} bytes at {address:#010x}, {why}"
            return False

        def on_exception(uc: Any, number: int, _data: object) -> None:
            self._violation = _EXCEPTIONS.get(number, f"exception {number}")
            uc.emu_stop()

        bad = _const.UC_HOOK_MEM_UNMAPPED | _const.UC_HOOK_MEM_WRITE_PROT
        self._uc.hook_add(bad, on_bad_access)
        self._uc.hook_add(_const.UC_HOOK_INTR, on_exception)

    def _reset(self) -> None:
        self._uc.reg_write(_arm.UC_ARM_REG_SP, self._image.initial_sp)
        self._uc.reg_write(_arm.UC_ARM_REG_PC, self._image.entry)


def _describe(error: Exception) -> str:
    undefined = getattr(error, "errno", 0) == _const.UC_ERR_INSN_INVALID
    return "an undefined instruction" if undefined else str(error)


def _family(board: Board) -> tuple[Family, int]:
    """Peripheral models of a board and the address of its console."""
    family = FAMILIES.get(board.port)
    if family is None or board.console is None:
        raise SimulationError(
            f"no peripheral models for the port {board.port!r}",
            where=board.name,
            hint=f"Unicorn boards can have the ports {', '.join(FAMILIES)}",
        )
    base = board.defines.get("PORT_UART_BASE", family.uarts.get(board.console.uart))
    if base is None:
        raise SimulationError(
            f"no model of {board.console.uart}",
            where=board.name,
            hint=f"the family's models are {', '.join(family.uarts)}",
        )
    return family, base


def _make_cpu(board: Board) -> Any:
    check_address_space(board.ram_bytes or 0)
    uc = _unicorn.Uc(_unicorn.UC_ARCH_ARM, _unicorn.UC_MODE_THUMB | _unicorn.UC_MODE_MCLASS)
    uc.ctl_set_cpu_model(_CPU_MODELS[board.core])
    return uc


def _map_memory(uc: Any, board: Board, image: FirmwareImage) -> None:
    """Flash, read-only for the firmware, with the image in it; RAM, zero."""
    if board.memory is None:
        raise InternalError("board without memory", where=board.name)
    flash = board.memory.flash
    spans = [(flash.origin, flash.size_bytes, _const.UC_PROT_READ | _const.UC_PROT_EXEC)]
    for region in board.memory.ram:
        if spans[-1][0] + spans[-1][1] == region.origin and spans[-1][2] == _const.UC_PROT_ALL:
            # Neighbouring RAMs, whose border need not be a page's.
            spans[-1] = (spans[-1][0], spans[-1][1] + region.size_bytes, _const.UC_PROT_ALL)
        else:
            spans.append((region.origin, region.size_bytes, _const.UC_PROT_ALL))
    for origin, size, protection in spans:
        uc.mem_map(origin, -(-size // _PAGE) * _PAGE, protection)
    for segment in image.segments:
        uc.mem_write(segment.address, segment.data)


def _map_window(uc: Any, window: Window, bus: PeripheralBus) -> None:
    """Route a window's accesses, of 1, 2 or 4 bytes, to the bus, which knows words."""
    alias_mask = 0x3000 if window.atomic_aliases else 0

    def on_read(_uc: object, offset: int, size: int, _data: Any) -> int:
        address = (window.origin + offset) & ~alias_mask
        value = bus.read(address & ~3) >> 8 * (address & 3)
        return value & ((1 << 8 * size) - 1)

    def on_write(_uc: object, offset: int, size: int, value: int, _data: Any) -> None:
        address = window.origin + offset
        alias = (address & alias_mask) >> 12
        address &= ~alias_mask
        word = address & ~3
        if alias:
            old = bus.read(word)
            value = (old ^ value, old | value, old & ~value)[alias - 1]
        elif size < 4:
            shift = 8 * (address & 3)
            mask = ((1 << 8 * size) - 1) << shift
            value = (bus.read(word) & ~mask) | (value << shift & mask)
        bus.write(word, value & 0xFFFF_FFFF)

    uc.mmio_map(window.origin, window.size_bytes, on_read, None, on_write, None)
