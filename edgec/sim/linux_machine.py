"""A Linux program's memory around Unicorn's Cortex-A, for calls of single functions.

No operating system is emulated: nothing of the program's own start-up runs but the functions that
pick implementations of memcpy and the like.  That is enough for generated libraries, which call
nothing else of the C library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import unicorn as _untyped_unicorn

from edgec.base.errors import SimulationError
from edgec.base.interrupts import interrupts_deferred
from edgec.sim.address_space import check_address_space
from edgec.sim.linux_program import LinuxProgram
from edgec.sim.trace_records import Tracer
from edgec.target.board import Board
from edgec.target.cores import Core

_unicorn: Any = _untyped_unicorn
_arm: Any = _untyped_unicorn.arm_const
_arm64: Any = _untyped_unicorn.arm64_const

_PAGE = 4096
_STACK_BYTES = 8 << 20  # what Linux gives a program
_STACK_TOP = 0xE000_0000
_PAGES_OF_OURS = 0xF000_0000
_RETURN = _PAGES_OF_OURS
_HOOK = _PAGES_OF_OURS + 64
_SCRATCH = _PAGES_OF_OURS + _PAGE

_A64_NOP, _A64_RET = b"\x1f\x20\x03\xd5", b"\xc0\x03\x5f\xd6"
_A32_NOP, _A32_RET = b"\x00\xf0\x20\xe3", b"\x1e\xff\x2f\xe1"

_HWCAP_32 = 1 << 6 | 1 << 12 | 1 << 13
"""Capabilities of Armv7-A cores in Linux: VFP, NEON, VFPv3.  Source: Linux, uapi/asm/hwcap.h."""

_FPU_ON_64 = 3 << 20  # CPACR_EL1.FPEN
_FPU_ON_32 = 15 << 20  # CPACR, cp10 and cp11
_FPEXC_EN = 1 << 30

_CPU_MODELS = {
    Core.CORTEX_A7: _arm.UC_CPU_ARM_CORTEX_A7,
    Core.CORTEX_A8: _arm.UC_CPU_ARM_CORTEX_A8,
    Core.CORTEX_A53: _arm64.UC_CPU_ARM64_A53,
    Core.CORTEX_A72: _arm64.UC_CPU_ARM64_A72,
    Core.CORTEX_A76: _arm64.UC_CPU_ARM64_MAX,  # Unicorn 2.1 has no A76; this has Armv8.2-A
}


class LinuxMachine:
    """Memory and core of one process.

    Args:
        program: what is loaded.
        board: a board with Linux that the program is for.

    Raises:
        SimulationError: the program cannot be loaded, or its resolvers fail.
    """

    def __init__(self, program: LinuxProgram, board: Board) -> None:
        self._program = program
        self._uc = _make_cpu(board)
        self._registers = _Registers.of(program.is_aarch64)
        self._tracer: Tracer | None = None
        for begin, end in _pages(program):
            self._uc.mem_map(begin, end - begin)
        self._uc.mem_map(_STACK_TOP - _STACK_BYTES, _STACK_BYTES)
        self._uc.mem_map(_PAGES_OF_OURS, 2 * _PAGE)
        for part in program.parts:
            self._uc.mem_write(part.address, part.data)
        nop, ret = (_A64_NOP, _A64_RET) if program.is_aarch64 else (_A32_NOP, _A32_RET)
        self._uc.mem_write(_RETURN, nop)
        self._uc.mem_write(_HOOK, ret)
        for resolver in program.resolvers:
            function = resolver.function
            if function is None:
                function = self.read_pointer(resolver.slot)
            found = self.call(function, 0 if program.is_aarch64 else _HWCAP_32)
            self.write_pointers(resolver.slot, found)

    @property
    def hook(self) -> int:
        """Address of a function that does nothing but return."""
        return _HOOK

    @property
    def scratch(self) -> int:
        """Address of a page for what calls pass in memory."""
        return _SCRATCH

    @property
    def pointer_bytes(self) -> int:
        """Size of a pointer."""
        return 8 if self._program.is_aarch64 else 4

    def read(self, address: int, size_bytes: int) -> bytes:
        """Bytes of the process.

        Raises:
            SimulationError: it has no such memory.
        """
        try:
            return bytes(self._uc.mem_read(address, size_bytes))
        except _unicorn.UcError as error:
            raise SimulationError(f"no {size_bytes} bytes at {address:#010x}: {error}") from error

    def read_pointer(self, address: int) -> int:
        """A pointer, or another word of its size."""
        return int.from_bytes(self.read(address, self.pointer_bytes), "little")

    def write(self, address: int, data: bytes) -> None:
        """Set bytes of the process.

        Raises:
            SimulationError: it has no such memory.
        """
        try:
            self._uc.mem_write(address, data)
        except _unicorn.UcError as error:
            raise SimulationError(f"no {len(data)} bytes at {address:#010x}: {error}") from error

    def write_pointers(self, address: int, *values: int) -> None:
        """Set pointers that follow each other."""
        self.write(address, b"".join(v.to_bytes(self.pointer_bytes, "little") for v in values))

    def call(self, function: int, *arguments: int, tracer: Tracer | None = None) -> int:
        """Run a function to its end.

        Args:
            function: its address; bit 0 set for Thumb code.
            arguments: up to four integers or pointers.
            tracer: watches; a second traced call counts on.

        Returns:
            The function's result, as wide as a pointer.

        Raises:
            SimulationError: a fault, with program counter and function, or the tracer's.
        """
        registers, uc = self._registers, self._uc
        for register, value in zip(registers.arguments, arguments, strict=False):
            uc.reg_write(register, value)
        uc.reg_write(registers.link, _RETURN)
        uc.reg_write(registers.stack, _STACK_TOP - 64)
        if tracer is not None and tracer is not self._tracer:
            uc.ctl_flush_tb()  # code that was translated before calls no hooks
            tracer.attach(uc)
            self._tracer = tracer
        try:
            # An exception in a hook would be lost in the emulator's C code.
            with interrupts_deferred():
                uc.emu_start(function, _RETURN + len(_A64_NOP))
        except _unicorn.UcError as error:
            raise self._stopped(str(error)) from error
        if tracer is not None:
            tracer.check()
        return int(uc.reg_read(registers.arguments[0]))

    def _stopped(self, what: str) -> SimulationError:
        pc = self._uc.reg_read(self._registers.counter)
        link = self._uc.reg_read(self._registers.link) & ~1
        name = self._program.function
        return SimulationError(
            f"{what}\n  at {pc:#010x} ({name(pc)})\n  called from {link:#010x} ({name(link)})"
        )


@dataclass(frozen=True, slots=True)
class _Registers:
    """Unicorn's numbers of the registers that calls use."""

    arguments: tuple[int, ...]
    link: int
    stack: int
    counter: int

    @classmethod
    def of(cls, is_aarch64: bool) -> _Registers:
        """The registers of A64 code, or those of Arm and Thumb code.

        Source: Arm AAPCS64 and AAPCS32, "Parameter passing".
        """
        if is_aarch64:
            a = _arm64
            first = (a.UC_ARM64_REG_X0, a.UC_ARM64_REG_X1, a.UC_ARM64_REG_X2, a.UC_ARM64_REG_X3)
            return cls(first, a.UC_ARM64_REG_X30, a.UC_ARM64_REG_SP, a.UC_ARM64_REG_PC)
        a = _arm
        first = (a.UC_ARM_REG_R0, a.UC_ARM_REG_R1, a.UC_ARM_REG_R2, a.UC_ARM_REG_R3)
        return cls(first, a.UC_ARM_REG_LR, a.UC_ARM_REG_SP, a.UC_ARM_REG_PC)


def _make_cpu(board: Board) -> Any:
    """The core, with Advanced SIMD switched on as Linux does."""
    check_address_space()
    if board.core.is_aarch64:
        uc = _unicorn.Uc(_unicorn.UC_ARCH_ARM64, _unicorn.UC_MODE_ARM)
        uc.ctl_set_cpu_model(_CPU_MODELS[board.core])
        uc.reg_write(_arm64.UC_ARM64_REG_CPACR_EL1, _FPU_ON_64)
        return uc
    uc = _unicorn.Uc(_unicorn.UC_ARCH_ARM, _unicorn.UC_MODE_ARM)
    uc.ctl_set_cpu_model(_CPU_MODELS[board.core])
    uc.reg_write(_arm.UC_ARM_REG_C1_C0_2, _FPU_ON_32)
    uc.reg_write(_arm.UC_ARM_REG_FPEXC, _FPEXC_EN)
    return uc


def _pages(program: LinuxProgram) -> list[tuple[int, int]]:
    """Begin and end of what is mapped, whole pages, each once."""
    spans: list[tuple[int, int]] = []
    for part in program.parts:
        begin = part.address // _PAGE * _PAGE
        end = -(-(part.address + part.size_bytes) // _PAGE) * _PAGE
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans
