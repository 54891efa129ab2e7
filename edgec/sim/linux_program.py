"""A Linux program as an emulator needs it: a static ELF for a board's core, checked."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from edgec.base.errors import SimulationError
from edgec.sim.elf import read_elf
from edgec.target.board import Board
from edgec.timing.types import CodeKind

_MAX_MEMORY_BYTES = 1 << 31

# Relocations of functions that pick their own implementation when a static program starts.
# Source: Arm AAELF64 (R_AARCH64_IRELATIVE), AAELF32 (R_ARM_IRELATIVE).
_IRELATIVE_64, _IRELATIVE_32 = 1032, 160

_MAPPING_SYMBOLS = {"$x": CodeKind.A64, "$a": CodeKind.A32, "$t": CodeKind.T32}
"""Instruction sets by mapping symbol.  Source: Arm AAELF64 and AAELF32, "Mapping symbols"."""

_JUMP_TABLES = (".plt", ".iplt")


@dataclass(frozen=True, slots=True)
class LoadedPart:
    """Bytes that Linux maps before the program starts.

    Attributes:
        address: address of the first byte.
        data: contents; zeros follow up to `size_bytes`.
        size_bytes: size in memory.
    """

    address: int
    data: bytes
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Resolver:
    """A pointer that start-up code fills with what a function returns.

    Attributes:
        slot: address of the pointer.
        function: address of the function; None: its address lies in the slot.
    """

    slot: int
    function: int | None


@dataclass(frozen=True, slots=True)
class LinuxProgram:
    """A static program that fits its board.

    Attributes:
        parts: what is in memory at the start, in order of address.
        resolvers: pointers to fill before anything else runs.
        symbols: address and size by name, of the functions and variables.
        function_starts, function_names: parallel, sorted by address; without the Thumb bit.
        code_starts, code_kinds: parallel, sorted by address; which instruction set begins there.
        is_aarch64: A64 code and 64-bit pointers; else Arm or Thumb code.
    """

    parts: tuple[LoadedPart, ...]
    resolvers: tuple[Resolver, ...]
    symbols: dict[str, tuple[int, int]]
    function_starts: tuple[int, ...]
    function_names: tuple[str, ...]
    code_starts: tuple[int, ...]
    code_kinds: tuple[CodeKind, ...]
    is_aarch64: bool

    def function(self, address: int) -> str:
        """Name of the function at an address, or the address where there is none."""
        index = bisect.bisect_right(self.function_starts, address) - 1
        return self.function_names[index] if index >= 0 else f"{address:#010x}"

    def kind(self, address: int) -> CodeKind:
        """The instruction set of the code at an address."""
        index = bisect.bisect_right(self.code_starts, address) - 1
        if index < 0:
            raise SimulationError(f"the program has no code at {address:#010x}")
        return self.code_kinds[index]

    def read(self, address: int, size_bytes: int) -> bytes:
        """Contents of memory at the start.

        Raises:
            SimulationError: the file holds no bytes for this range.
        """
        for part in self.parts:
            offset = address - part.address
            if 0 <= offset <= len(part.data) - size_bytes:
                return part.data[offset : offset + size_bytes]
        raise SimulationError(f"the program holds no {size_bytes} bytes at {address:#010x}")

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size of a symbol.

        Raises:
            SimulationError: there is none, so it is not a program of this edgec.
        """
        if name not in self.symbols:
            raise SimulationError(
                f"the program has no symbol {name!r}",
                hint="build it with this version of edgec: edgec compile",
            )
        return self.symbols[name]


def load_program(elf: Path, board: Board) -> LinuxProgram:
    """Read a program and check that it is for this board's core.

    Raises:
        SimulationError: the file is missing, no static program, or made for another core.
    """
    return read_elf(elf, lambda file: _read(file, board))


def _read(file: ELFFile, board: Board) -> LinuxProgram:
    wanted = ("EM_AARCH64", 64) if board.core.is_aarch64 else ("EM_ARM", 32)
    found = (file.header["e_machine"], file.elfclass)
    if found != wanted or not file.little_endian:
        raise SimulationError(
            f"the firmware is for {found[0]}, which the {board.core.value} cannot run",
            where=board.name,
            hint="build it for this board",
        )
    if file.header["e_type"] != "ET_EXEC":
        raise SimulationError("the firmware is no static program", where=board.name)
    symbols = _symbols(file)
    functions = sorted(
        [
            *((each[0] & ~1, name) for name, each in symbols.items() if each[2]),
            *_jump_tables(file),
        ]
    )
    kinds = _code_kinds(file)
    return LinuxProgram(
        parts=_parts(file, board),
        resolvers=_resolvers(file),
        symbols={name: (address, size) for name, (address, size, _) in symbols.items()},
        function_starts=tuple(address for address, _ in functions),
        function_names=tuple(name for _, name in functions),
        code_starts=tuple(address for address, _ in kinds),
        code_kinds=tuple(kind for _, kind in kinds),
        is_aarch64=board.core.is_aarch64,
    )


def _parts(file: ELFFile, board: Board) -> tuple[LoadedPart, ...]:
    parts = tuple(
        LoadedPart(part["p_vaddr"], part.data(), part["p_memsz"])
        for part in file.iter_segments("PT_LOAD")
    )
    if not parts or any(part.address + part.size_bytes > _MAX_MEMORY_BYTES for part in parts):
        raise SimulationError("the firmware lies where no program can", where=board.name)
    return tuple(sorted(parts, key=lambda part: part.address))


def _symbols(file: ELFFile) -> dict[str, tuple[int, int, bool]]:
    """Address, size and whether it is a function, by name."""
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    kinds = ("STT_FUNC", "STT_GNU_IFUNC", "STT_OBJECT")
    return {
        symbol.name: (symbol["st_value"], symbol["st_size"], kind != "STT_OBJECT")
        for symbol in table.iter_symbols()
        if (kind := symbol["st_info"]["type"]) in kinds
    }


def _code_kinds(file: ELFFile) -> list[tuple[int, CodeKind]]:
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return []
    marks = ((symbol["st_value"], symbol.name.split(".")[0]) for symbol in table.iter_symbols())
    found = ((at, _MAPPING_SYMBOLS[name]) for at, name in marks if name in _MAPPING_SYMBOLS)
    return sorted(found, key=lambda mark: mark[0])


def _jump_tables(file: ELFFile) -> list[tuple[int, str]]:
    """Sections of jumps to functions that pick their own implementation; they have no symbols."""
    sections = (file.get_section_by_name(name) for name in _JUMP_TABLES)
    return [(section["sh_addr"], str(section.name)) for section in sections if section is not None]


def _resolvers(file: ELFFile) -> tuple[Resolver, ...]:
    found = []
    for section in file.iter_sections():
        if not isinstance(section, RelocationSection):
            continue
        for entry in section.iter_relocations():
            if entry["r_info_type"] in (_IRELATIVE_64, _IRELATIVE_32):
                function = entry["r_addend"] if section.is_RELA() else None
                found.append(Resolver(entry["r_offset"], function))
    return tuple(found)
