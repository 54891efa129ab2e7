"""The firmware of a lowered program."""

from __future__ import annotations

from pathlib import Path

from edgec.codegen.cnames import library_names
from edgec.codegen.library import emit_library
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.commands.compile_facts import ram_constants
from edgec.lower import Program
from edgec.report.model import PlacementReport
from edgec.target.board import Board
from edgec.toolchain.platformio import build


def firmware_of(
    program: Program, board: Board, folder: Path, placement: PlacementReport | None = None
) -> Path:
    """The ELF file of a program, built for a board in an empty folder.

    Args:
        program: what it runs.
        board: the target.
        folder: where it is built.
        placement: which constants lie in RAM, and where the arena lies; None: as the board's file
            says, and all constants in flash.
    """
    emit_library(program, folder / "library")
    names = library_names(program.name)
    model = FirmwareModel(
        folder / "library",
        names.name,
        names.header,
        names.symbol,
        program.arena_bytes,
        len(program.inputs),
        ram_constants(placement),
        program.state_bytes,
    )
    arena_in = None if placement is None else placement.arena_in
    emit_project([model], board, folder / "project", arena_in=arena_in)
    return build(folder / "project", board).elf
