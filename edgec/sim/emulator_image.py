"""A firmware ELF as an emulator needs it: bytes at addresses, start values, symbols; checked."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection, SymbolTableSection

from edgec.base.errors import SimulationError
from edgec.sim.elf import read_elf
from edgec.target.board import Board
from edgec.target.cores import Core

# Tag_CPU_arch values.  Source: Arm IHI 0045 (ABI addenda), "The target-related attributes".
_V6_M, _V6S_M, _V7, _V7E_M, _V8_M_BASE, _V8_M_MAIN = 11, 12, 10, 13, 16, 17
_ARCH_NAMES = {
    _V6_M: "Armv6-M",
    _V6S_M: "Armv6-M",
    _V7: "Armv7-M",
    _V7E_M: "Armv7E-M",
    _V8_M_BASE: "Armv8-M Baseline",
    _V8_M_MAIN: "Armv8-M Mainline",
}
_V6_SET = frozenset({_V6_M, _V6S_M})
_V7E_SET = _V6_SET | {_V7, _V7E_M}
_RUNS_ON = {
    Core.CORTEX_M0: _V6_SET,
    Core.CORTEX_M0PLUS: _V6_SET,
    Core.CORTEX_M3: _V6_SET | {_V7},
    Core.CORTEX_M4: _V7E_SET,
    Core.CORTEX_M7: _V7E_SET,
    Core.CORTEX_M33: _V7E_SET | {_V8_M_BASE, _V8_M_MAIN},
}


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes that lie in the board's memory before it starts."""

    address: int
    data: bytes


@dataclass(frozen=True, slots=True)
class FirmwareImage:
    """A firmware ELF that fits its board.

    Attributes:
        segments: initial contents of memory, at load addresses.
        moved: those that start-up code copies, at the addresses they run or are read at.
        initial_sp, entry: from the vector table; `entry` has the Thumb bit set.
        function_starts, function_names: parallel, sorted by address.
    """

    segments: tuple[Segment, ...]
    moved: tuple[Segment, ...]
    initial_sp: int
    entry: int
    function_starts: tuple[int, ...]
    function_names: tuple[str, ...]

    def locate(self, address: int) -> str:
        """`address` in words: function and distance from its start, if known."""
        index = bisect.bisect_right(self.function_starts, address) - 1
        if index < 0:
            return f"{address:#010x}"
        distance = address - self.function_starts[index]
        return f"{address:#010x} ({self.function_names[index]}+{distance:#x})"

    def read(self, address: int, size_bytes: int) -> bytes:
        """Contents of memory when start-up is done, at load or run addresses.

        Raises:
            SimulationError: the file holds no bytes for this range.
        """
        for segment in (*self.segments, *self.moved):
            offset = address - segment.address
            if 0 <= offset <= len(segment.data) - size_bytes:
                return segment.data[offset : offset + size_bytes]
        raise SimulationError(f"the firmware holds no {size_bytes} bytes at {address:#010x}")


def load_image(elf: Path, board: Board) -> FirmwareImage:
    """Read a firmware ELF and check that it is for this board.

    Raises:
        SimulationError: the file is missing, no firmware, or made for another core or board.
    """
    return read_elf(elf, lambda file: _read(file, board))


def _read(file: ELFFile, board: Board) -> FirmwareImage:
    header = file.header
    if header["e_machine"] != "EM_ARM" or file.elfclass != 32 or not file.little_endian:
        raise SimulationError("the ELF is not for a 32-bit Arm core", where=header["e_machine"])
    _check_core(file, board)
    loaded = [part for part in file.iter_segments("PT_LOAD") if part["p_filesz"] > 0]
    segments = tuple(Segment(part["p_paddr"], part.data()) for part in loaded)
    _check_memory(segments, board)
    initial_sp, entry = _start(segments, board)
    functions = _functions(file)
    return FirmwareImage(
        segments=segments,
        moved=tuple(
            Segment(part["p_vaddr"], part.data())
            for part in loaded
            if part["p_vaddr"] != part["p_paddr"]
        ),
        initial_sp=initial_sp,
        entry=entry,
        function_starts=tuple(address for address, _ in functions),
        function_names=tuple(name for _, name in functions),
    )


def _check_core(file: ELFFile, board: Board) -> None:
    section = file.get_section_by_name(".ARM.attributes")
    if not isinstance(section, ARMAttributesSection):
        return
    for subsection in section.iter_subsections():
        for block in subsection.iter_subsubsections("TAG_FILE"):
            for attribute in block.iter_attributes("TAG_CPU_ARCH"):
                if attribute.value not in _RUNS_ON[board.core]:
                    name = _ARCH_NAMES.get(attribute.value, f"architecture {attribute.value}")
                    raise SimulationError(
                        f"the firmware is for {name}, which the {board.core.value} cannot run",
                        where=board.name,
                        hint="build it for this board",
                    )


def _check_memory(segments: tuple[Segment, ...], board: Board) -> None:
    if board.memory is None:
        raise SimulationError("the board has no memory map to emulate", where=board.name)
    if not segments:
        raise SimulationError("the ELF holds no code", where=board.name)
    flash = board.memory.flash
    spans = [(flash.origin, flash.end), *((ram.origin, ram.end) for ram in board.memory.ram)]
    for segment in segments:
        end = segment.address + len(segment.data)
        if not any(low <= segment.address and end <= high for low, high in spans):
            raise SimulationError(
                f"the firmware has bytes at {segment.address:#010x}..{end:#010x}, "
                "where the board has no memory",
                where=board.name,
                hint="build it for this board",
            )


def _start(segments: tuple[Segment, ...], board: Board) -> tuple[int, int]:
    """Initial stack pointer and entry point, from the vector table at the start of the flash."""
    memory = board.memory
    base = memory.flash.origin + memory.flash.boot_bytes if memory is not None else 0
    for segment in segments:
        offset = base - segment.address
        if 0 <= offset <= len(segment.data) - 8:
            words = segment.data[offset : offset + 8]
            return int.from_bytes(words[:4], "little"), int.from_bytes(words[4:], "little")
    raise SimulationError(f"the firmware has no vector table at {base:#010x}", where=board.name)


def _functions(file: ELFFile) -> list[tuple[int, str]]:
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return []
    return sorted(
        (symbol["st_value"] & ~1, symbol.name)
        for symbol in table.iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC"
    )
