"""Plan of a trace, made before the firmware runs: addresses, and the price of fetches."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from edgec.base.errors import SimulationError
from edgec.sim.emulator_image import FirmwareImage
from edgec.sim.native import NativeModel, layout
from edgec.timing.memory import BlockPace, LineShares, line_shares
from edgec.timing.types import FlashTiming

_POINTER_BYTES = 4
_HOOK = "bench_step"
"""The step hook that the protocol's `bench` sets; see firmware/app/console/steps.c."""


@dataclass(frozen=True, slots=True)
class Divide:
    """A UDIV or SDIV instruction.

    Attributes:
        address: address of the instruction.
        dividend, divisor: numbers of its operand registers.
        signed: SDIV.
    """

    address: int
    dividend: int
    divisor: int
    signed: bool


class Code(Protocol):
    """Memory that holds the instructions of a program."""

    def read(self, address: int, size_bytes: int) -> bytes:
        """Contents of memory when start-up is done.

        Raises:
            SimulationError: the file holds no bytes for this range.
        """


@dataclass(frozen=True, slots=True, eq=False)
class TracePlan:
    """Addresses to watch in a run, and the prices of memory.

    Attributes:
        image: the firmware.
        run_entry: first instruction of the model's run function.
        hook_entry: first instruction of the step hook, whose own code is left out.
        arena: first address and size of the arena; of size 0, nothing watches it.
        divides: every instruction that could be a divide; data that look like one never run.
        timing: flash to simulate; nothing is simulated without wait states.
        pace: see `edgec.timing.memory`.
        is_aarch64: the core runs A64 code, which returns to X30 instead of R14.
        runs: runs that are counted together, one after the other: those of an image.
    """

    image: Code
    run_entry: int
    hook_entry: int
    arena: tuple[int, int]
    divides: tuple[Divide, ...]
    timing: FlashTiming
    pace: BlockPace
    is_aarch64: bool = False
    runs: int = 1

    def shares(self, address: int, size_bytes: int) -> LineShares:
        """Fetches of one execution of a block.

        Raises:
            SimulationError: the block is not in the firmware file (code made at run time).
        """
        return line_shares(self.timing, address, self.code(address, size_bytes), self.pace)

    def code(self, address: int, size_bytes: int) -> bytes:
        """The instructions of a block.

        Raises:
            SimulationError: the block is not in the firmware file.
        """
        return self.image.read(address, size_bytes)


def make_plan(elf: Path, image: FirmwareImage, timing: FlashTiming, pace: BlockPace) -> TracePlan:
    """Find what to watch in a firmware.

    Raises:
        SimulationError: the ELF lacks a symbol, so it is not the firmware of this edgec.
    """
    symbols = _symbols(elf, ("app_models", "app_arena", _HOOK))
    (model,) = struct.unpack("<I", image.read(symbols["app_models"]["st_value"], 4))
    places = layout(NativeModel, _POINTER_BYTES)
    run, run_length, image_runs = (
        struct.unpack("<I", image.read(model + places[name], 4))[0]
        for name in ("run", "run_length", "image_runs")
    )
    arena = symbols["app_arena"]
    return TracePlan(
        image=image,
        run_entry=(run_length or run) & ~1,  # `run` calls `run_length`, where there is one
        hook_entry=symbols[_HOOK]["st_value"] & ~1,
        arena=(arena["st_value"], arena["st_size"]),
        divides=_divides(image),
        timing=timing,
        pace=pace,
        runs=max(image_runs, 1),
    )


def _symbols(elf: Path, names: tuple[str, ...]) -> dict[str, Symbol]:
    try:
        with elf.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            every = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
            found = {symbol.name: symbol for symbol in every if symbol.name in names}
    except (ELFError, OSError, ValueError) as error:
        raise SimulationError(f"cannot read the symbols: {error}", where=str(elf)) from error
    for name in names:
        if name not in found:
            raise SimulationError(
                f"the firmware has no symbol {name!r}",
                where=str(elf),
                hint="build it with this version of edgec: edgec compile",
            )
    return found


def _divides(image: FirmwareImage) -> tuple[Divide, ...]:
    """Every halfword that starts the bits of SDIV or UDIV.

    Source: Armv7-M ARM (DDI 0403E) A7.7.127 and A7.7.195, encoding T1.
    """
    divides = []
    for segment in (*image.segments, *image.moved):
        words = memoryview(segment.data[: len(segment.data) // 2 * 2]).cast("H")
        for index in range(len(words) - 1):
            kind, rest = words[index] & 0xFFF0, words[index + 1]
            if kind in (0xFB90, 0xFBB0) and rest & 0xF0F0 == 0xF0F0:
                address = segment.address + 2 * index
                divides.append(Divide(address, words[index] & 15, rest & 15, kind == 0xFB90))
    return tuple(divides)
