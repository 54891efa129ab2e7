"""Kinds of instructions in a block of Cortex-A code: A64, A32 and T32, by capstone.

There is no cycle model of these cores here, so an instruction is only counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import capstone as _untyped_capstone

from edgec.base.errors import ConfigError, SimulationError
from edgec.timing.types import CodeKind

_capstone: Any = _untyped_capstone

_LOADS = ("ld", "vld", "pop", "vpop")
_STORES = ("st", "vst", "push", "vpush")
_SIMD_REGISTER = re.compile(r"\b[bdhqsv][0-9]{1,2}\b")
"""Operands of Advanced SIMD and floating-point instructions; such as v0.16b, q3, d7, s1."""


@dataclass(frozen=True, slots=True)
class BlockKinds:
    """Instructions of one execution of a block.

    Attributes:
        instructions: every instruction; a conditional one counts whether or not it has an effect.
        simd: those with a SIMD and floating-point register, loads and stores included.
        loads, stores: those that read or write memory, however many registers.
    """

    instructions: int
    simd: int
    loads: int
    stores: int


def count_kinds(code: bytes, address: int, kind: CodeKind) -> BlockKinds:
    """Decode a block and count.

    Args:
        code: its instructions.
        address: address of the first instruction.
        kind: its instruction set.

    Raises:
        ConfigError: capstone is too old.
        SimulationError: bytes that are no instruction.
    """
    found = disassembled(code, address, kind)
    return BlockKinds(
        len(found),
        simd=sum(_SIMD_REGISTER.search(operands) is not None for _, operands in found),
        loads=sum(mnemonic.startswith(_LOADS) for mnemonic, _ in found),
        stores=sum(mnemonic.startswith(_STORES) for mnemonic, _ in found),
    )


def disassembled(code: bytes, address: int, kind: CodeKind) -> list[tuple[str, str]]:
    """Mnemonic and operands of each instruction of a block.

    Args:
        code: its instructions.
        address: address of the first instruction.
        kind: its instruction set.

    Raises:
        ConfigError: capstone is too old.
        SimulationError: bytes that are no instruction.
    """
    if _capstone.cs_version()[0] < 5:
        raise ConfigError("capstone is too old", hint='pip install "capstone>=5"')
    found: list[tuple[str, str]] = []
    end = address
    for at, size, *texts in _capstone.Cs(*_MODES[kind]).disasm_lite(code, address):
        found.append((texts[0], texts[1]))
        end = at + size
    if end != address + len(code):
        left = code[end - address :][:4].hex(" ")
        raise SimulationError(f"not an instruction of {kind.value}: {left}", where=f"{end:#010x}")
    return found


_MODES = {
    CodeKind.A64: (_capstone.CS_ARCH_ARM64, _capstone.CS_MODE_ARM),
    CodeKind.A32: (_capstone.CS_ARCH_ARM, _capstone.CS_MODE_ARM | _capstone.CS_MODE_V8),
    CodeKind.T32: (_capstone.CS_ARCH_ARM, _capstone.CS_MODE_THUMB | _capstone.CS_MODE_V8),
}
