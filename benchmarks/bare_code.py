"""C functions without firmware, run in Unicorn: cycles on Cortex-M, instructions on A64.

A `BareProgram` is a few C files, linked to an address with their constants beside the code and a
stack of their own.  Memory has no wait states.  Calls take up to twenty integers, addresses among
them: `BareProgram.buffers` tells where data may be put.
"""

from __future__ import annotations

import struct
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import unicorn as _untyped_unicorn
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from edgec.base.errors import BuildError
from edgec.base.resources import data_dir
from edgec.sim.trace_python import quotient_bits
from edgec.target.cores import Core, Fpu
from edgec.timing.core import core_model
from edgec.timing.core_model import CoreModel
from edgec.timing.decode import Instruction, decode_block
from edgec.timing.types import NO_BLOCK, Edge
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

_uc: Any = _untyped_unicorn
INCLUDE = data_dir("firmware") / "runtime" / "include"
_CODE, _CODE_BYTES = 0x0800_0000, 0x20_0000
_RAM, _RAM_BYTES = 0x2000_0000, 0x20_0000
_STACK_BYTES = 0x1_0000
_STOP = 0x1000_0000
_PAGE = 0x1000
_WORDS_OF_STACK = 16


@dataclass(frozen=True, slots=True)
class Target:
    """A core to run on: what to compile for, what to emulate, what to price with.

    Attributes:
        core: the core.
        fpu: its floating-point unit.
        dsp: it has the DSP extension.
        emulated: Unicorn's name of the core that stands in for it; "": its own.
    """

    core: Core
    fpu: Fpu = Fpu.NONE
    dsp: bool = False
    emulated: str = ""

    def __str__(self) -> str:
        return self.core.value

    @property
    def is_a64(self) -> bool:
        """64-bit code, counted in instructions."""
        return self.core.is_aarch64


TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "m0plus": Target(Core.CORTEX_M0PLUS, emulated="CORTEX_M0"),
        "m3": Target(Core.CORTEX_M3),
        "m4": Target(Core.CORTEX_M4, dsp=True),
        "m4f": Target(Core.CORTEX_M4, Fpu.SINGLE, dsp=True),
        "m7": Target(Core.CORTEX_M7, dsp=True),
        "m7f": Target(Core.CORTEX_M7, Fpu.SINGLE, dsp=True),
        "m33": Target(Core.CORTEX_M33, dsp=True),
        "a53": Target(Core.CORTEX_A53, Fpu.DOUBLE, emulated="CORTEX_A53"),
    }
)


class BareProgram:
    """C files for a core, ready to be called.

    Attributes:
        buffers: first address of memory for the arguments of calls; its size is `buffer_bytes`.
    """

    buffers = _RAM + _STACK_BYTES
    buffer_bytes = _RAM_BYTES - _STACK_BYTES

    def __init__(
        self,
        sources: Sequence[Path],
        target: Target,
        flags: Sequence[str] = ("-O2",),
    ) -> None:
        """Compile and link.

        Raises:
            BuildError: the compiler is missing or reports errors.
        """
        self.target = target
        self._code, self._functions = _linked(sources, target, flags)
        self._machine = _machine(target)
        self._machine.mem_write(_CODE, self._code)
        self._edges: Counter[Edge] = Counter()
        self._divides: Counter[int] = Counter()
        self._last: tuple[int, int] | None = None
        self._machine.hook_add(_uc.unicorn_const.UC_HOOK_BLOCK, self._on_block)
        if not target.is_a64:
            self._watch_divides()

    def write(self, address: int, data: bytes) -> None:
        """Put bytes into the buffers."""
        self._machine.mem_write(address, data)

    def read(self, address: int, size_bytes: int) -> bytes:
        """Bytes of the buffers."""
        return bytes(self._machine.mem_read(address, size_bytes))

    def call(self, function: str, *arguments: int) -> None:
        """Call a function with integers, those without a register on the stack."""
        self._edges.clear()
        self._divides.clear()
        self._last = None
        names, thumb = (_A64, 0) if self.target.is_a64 else (_A32, 1)
        in_registers = len(names) - 2
        stack = _RAM + _STACK_BYTES - 8 * _WORDS_OF_STACK
        width, mask = ("Q", (1 << 64) - 1) if self.target.is_a64 else ("I", (1 << 32) - 1)
        spilled = [value & mask for value in arguments[in_registers:]]
        self._machine.mem_write(stack, struct.pack(f"<{len(spilled)}{width}", *spilled))
        values = [value & mask for value in arguments[:in_registers]]
        values += [0] * (in_registers - len(values))
        for name, value in zip(names, (*values, stack, _STOP | thumb), strict=True):
            self._machine.reg_write(_register(self.target, name), value)
        self._machine.emu_start(self._functions[function] | thumb, _STOP)
        if self._last is not None and self._last[0] != _STOP:
            self._edges[Edge(*self._last, NO_BLOCK)] += 1

    def instructions(self) -> int:
        """Instructions of the last call."""
        if self.target.is_a64:
            return sum(edge.size_bytes // 4 * count for edge, count in self._edges.items())
        counts = self._edges.items()
        return sum(len(self._block(edge.start, edge.size_bytes)) * n for edge, n in counts)

    def cycles(self) -> int:
        """Cycles of the last call on a Cortex-M."""
        model = self._model
        sizes = {edge.start: edge.size_bytes for edge in self._edges}
        total = sum(model.divide_cycles(bits) * count for bits, count in self._divides.items())
        for edge, count in self._edges.items():
            size = sizes.get(edge.next_start)
            target = self._block(edge.next_start, size)[0] if size else None
            block = self._block(edge.start, edge.size_bytes)
            total += count * model.cost(block, not edge.falls_through, target)
        return total

    def cost(self) -> int:
        """Cycles of the last call; on A64 instructions."""
        return self.instructions() if self.target.is_a64 else self.cycles()

    @cached_property
    def _model(self) -> CoreModel:
        return core_model(self.target.core, self.target.fpu)

    def _on_block(self, _machine: object, start: int, size_bytes: int, _data: object) -> None:
        if self._last is not None:
            self._edges[Edge(*self._last, start)] += 1
        self._last = (start, size_bytes)

    def _block(self, start: int, size_bytes: int) -> tuple[Instruction, ...]:
        return decode_block(self._code[start - _CODE : start - _CODE + size_bytes], start)

    def _watch_divides(self) -> None:
        """Count quotients.  Source: DDI 0403E A7.7.127 and A7.7.195, encoding T1."""
        halves = memoryview(self._code[: len(self._code) // 2 * 2]).cast("H")
        for index in range(len(halves) - 1):
            first, second = halves[index], halves[index + 1]
            if first & 0xFFD0 == 0xFB90 and second & 0xF0F0 == 0xF0F0:
                place = _CODE + 2 * index
                operands = (first & 15, second & 15, first & 0x20 == 0)
                hook = _uc.unicorn_const.UC_HOOK_CODE
                self._machine.hook_add(hook, self._on_divide, operands, place, place)

    def _on_divide(
        self, machine: Any, _address: int, _size: int, operands: tuple[int, int, bool]
    ) -> None:
        dividend, divisor = (
            machine.reg_read(_register(self.target, f"R{number}")) for number in operands[:2]
        )
        self._divides[quotient_bits(dividend, divisor, signed=operands[2])] += 1


_A32 = ("R0", "R1", "R2", "R3", "SP", "LR")
_A64 = ("X0", "X1", "X2", "X3", "X4", "X5", "X6", "X7", "SP", "X30")


def _register(target: Target, name: str) -> int:
    if target.is_a64:
        return int(getattr(_uc.arm64_const, f"UC_ARM64_REG_{name}"))
    return int(getattr(_uc.arm_const, f"UC_ARM_REG_{name}"))


def _machine(target: Target) -> Any:
    """An emulator with memory for code, data, and the address that calls return to."""
    const = _uc.unicorn_const
    name = target.emulated or target.core.name
    if target.is_a64:
        machine = _uc.Uc(const.UC_ARCH_ARM64, const.UC_MODE_ARM)
        machine.ctl_set_cpu_model(getattr(_uc.arm64_const, f"UC_CPU_ARM64_{name.split('_')[-1]}"))
        # Variables of a thread (errno) lie at the end of the buffers.
        thread = _RAM + _RAM_BYTES - _PAGE
        machine.reg_write(_uc.arm64_const.UC_ARM64_REG_TPIDR_EL0, thread)
    else:
        machine = _uc.Uc(const.UC_ARCH_ARM, const.UC_MODE_THUMB | const.UC_MODE_MCLASS)
        machine.ctl_set_cpu_model(getattr(_uc.arm_const, f"UC_CPU_ARM_{name}"))
    for origin, size in ((_CODE, _CODE_BYTES), (_RAM, _RAM_BYTES), (_STOP, _PAGE)):
        machine.mem_map(origin, size)
    return machine


def _linked(
    sources: Sequence[Path], target: Target, flags: Sequence[str]
) -> tuple[bytes, dict[str, int]]:
    """The bytes of code and constants, and the addresses of functions."""
    compiler = f"{target.core.gcc_prefix}gcc"
    if process.which(compiler) is None:
        raise BuildError(f"{compiler} is not installed")
    options = [*target.core.gcc_flags(target.fpu, dsp=target.dsp), "-std=c11", *WARNING_FLAGS]
    place = [f"-Wl,-Ttext={_CODE:#x},-e0,--omagic", "-static", "-nostartfiles"]
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / "program.elf"
        argv: list[str | Path] = [compiler, *options, *flags, f"-I{INCLUDE}", *sources, "-lm"]
        argv += [*place, "-o", elf]
        done = process.run(argv, timeout_s=300)
        if done.returncode != 0:
            raise BuildError(done.stderr, where=compiler)
        return _loaded(elf)


def _loaded(path: Path) -> tuple[bytes, dict[str, int]]:
    with path.open("rb") as file:
        image = ELFFile(file)
        table = image.get_section_by_name(".symtab")
        functions = {
            symbol.name: symbol["st_value"] & ~1
            for symbol in (table.iter_symbols() if isinstance(table, SymbolTableSection) else ())
            if symbol["st_info"]["type"] == "STT_FUNC"
        }
        segments = [part for part in image.iter_segments() if part["p_type"] == "PT_LOAD"]
        code = bytearray(max(part["p_vaddr"] + part["p_memsz"] for part in segments) - _CODE)
        for part in segments:
            at = part["p_vaddr"] - _CODE
            code[at : at + part["p_filesz"]] = part.data()
        return bytes(code), functions
