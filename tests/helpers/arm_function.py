"""Bare C functions on emulated Cortex-M cores: compiled as for a board, run and priced in Unicorn.

Memory has no wait states and there is no start-up code: `ArmProgram` holds one C file, linked to
an address, with its constants beside the code and its own stack.  Calls take up to twenty integers,
addresses among them: `ArmProgram.buffers` tells where data may be put.  `ArmProgram.cycles` is the
price of the last call by the core model of `edgec.timing`.
"""

from __future__ import annotations

import shutil
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from edgec.cores import Core, Fpu
from edgec.resources import data_dir
from edgec.timing.core import core_model
from edgec.timing.decode import Instruction, decode_block
from edgec.timing.types import NO_BLOCK, Edge
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

INCLUDE = data_dir("firmware") / "runtime" / "include"
_CODE, _CODE_BYTES = 0x0800_0000, 0x20_0000
_RAM, _RAM_BYTES = 0x2000_0000, 0x20_0000
_STACK_BYTES = 0x1_0000
_STOP = 0x1000_0000
_PAGE = 0x1000


@dataclass(frozen=True)
class ArmCore:
    """A core to run on: what to compile for, what to emulate, what to price with."""

    core: Core
    fpu: Fpu = Fpu.NONE
    dsp: bool = False
    emulated: str = ""

    @property
    def cpu_model(self) -> str:
        return f"UC_CPU_ARM_{self.emulated or self.core.name}"

    def __str__(self) -> str:
        return self.core.value


CORES = {
    "m0plus": ArmCore(Core.CORTEX_M0PLUS, emulated="CORTEX_M0"),
    "m3": ArmCore(Core.CORTEX_M3),
    "m4": ArmCore(Core.CORTEX_M4, dsp=True),
    "m7": ArmCore(Core.CORTEX_M7, dsp=True),
    "m33": ArmCore(Core.CORTEX_M33, dsp=True),
}


class ArmProgram:
    """A C file for a core, ready to be called.

    Attributes:
        buffers: first address of memory for the arguments of calls; its size is `buffer_bytes`.
    """

    buffers = _RAM + _STACK_BYTES
    buffer_bytes = _RAM_BYTES - _STACK_BYTES

    def __init__(self, source: Path, core: ArmCore, flags: Sequence[str] = ("-O2",)) -> None:
        """Compile `source`; skips without compiler or Unicorn."""
        unicorn = pytest.importorskip("unicorn")
        from unicorn import arm_const, unicorn_const

        self._core = core
        self._registers = [getattr(arm_const, f"UC_ARM_REG_{name}") for name in _REGISTERS]
        self._code, self._functions = _linked(source, core, flags)
        self._uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(getattr(arm_const, core.cpu_model))
        self._uc.mem_map(_CODE, _CODE_BYTES)
        self._uc.mem_map(_RAM, _RAM_BYTES)
        self._uc.mem_map(_STOP, _PAGE)
        self._uc.mem_write(_CODE, self._code)
        self._edges: Counter[Edge] = Counter()
        self._last: tuple[int, int] | None = None
        self._uc.hook_add(unicorn_const.UC_HOOK_BLOCK, self._on_block)

    def write(self, address: int, data: bytes) -> None:
        """Put bytes into the buffers."""
        self._uc.mem_write(address, data)

    def read(self, address: int, size_bytes: int) -> bytes:
        """Bytes of the buffers."""
        return bytes(self._uc.mem_read(address, size_bytes))

    def call(self, function: str, *arguments: int) -> None:
        """Call a function with integers, the fifth and later ones on the stack."""
        self._edges.clear()
        self._last = None
        stack = _RAM + _STACK_BYTES - 64
        self._uc.mem_write(stack, struct.pack(f"<{len(arguments[4:])}I", *_words(arguments[4:])))
        values = [*_words(arguments[:4]), *[0] * (4 - len(arguments[:4])), stack, _STOP | 1]
        for register, value in zip(self._registers, values, strict=True):
            self._uc.reg_write(register, value)
        self._uc.emu_start(self._functions[function] | 1, _STOP)
        if self._last is not None and self._last[0] != _STOP:
            self._edges[Edge(*self._last, NO_BLOCK)] += 1

    def _on_block(self, _uc: object, start: int, size_bytes: int, _data: object) -> None:
        if self._last is not None:
            self._edges[Edge(*self._last, start)] += 1
        self._last = (start, size_bytes)

    def cycles(self) -> int:
        """Cycles of the last call, without divides."""
        model = core_model(self._core.core, self._core.fpu, dsp=self._core.dsp)
        sizes = {edge.start: edge.size_bytes for edge in self._edges}
        total = 0
        for edge, count in self._edges.items():
            size = sizes.get(edge.next_start)
            target = self._block(edge.next_start, size)[0] if size else None
            block = self._block(edge.start, edge.size_bytes)
            total += count * model.cost(block, not edge.falls_through, target)
        return total

    def _block(self, start: int, size_bytes: int) -> tuple[Instruction, ...]:
        return decode_block(self._code[start - _CODE : start - _CODE + size_bytes], start)


_REGISTERS = ("R0", "R1", "R2", "R3", "SP", "LR")


def _words(values: Sequence[int]) -> list[int]:
    return [value & 0xFFFFFFFF for value in values]


def _linked(source: Path, core: ArmCore, flags: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    """The bytes of code and constants, and the addresses of global functions."""
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    elf = source.with_name(f"{source.stem}_{core}.elf")
    options = [*core.core.gcc_flags(core.fpu, dsp=core.dsp), "-std=c11", *WARNING_FLAGS, *flags]
    link = ["-nostartfiles", f"-Wl,-Ttext={_CODE:#x},-e0,--omagic", "-o", elf]
    argv = [compiler, *options, f"-I{INCLUDE}", source, *link]
    done = process.run(argv, timeout_s=300)
    assert done.returncode == 0, done.stderr
    with elf.open("rb") as file:
        image = ELFFile(file)
        functions = {
            symbol.name: symbol["st_value"] & ~1
            for symbol in image.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC"
        }
        segments = [part for part in image.iter_segments() if part["p_type"] == "PT_LOAD"]
        code = bytearray(max(part["p_vaddr"] + part["p_memsz"] for part in segments) - _CODE)
        for part in segments:
            at = part["p_vaddr"] - _CODE
            code[at : at + part["p_filesz"]] = part.data()
        return bytes(code), functions
