"""The firmware of a lowered program."""

from __future__ import annotations

from pathlib import Path

from edgec.codegen.cnames import library_names
from edgec.codegen.library import emit_library
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.lower import Program
from edgec.target.board import Board
from edgec.toolchain.platformio import build


def firmware_of(program: Program, board: Board, folder: Path) -> Path:
    """The ELF file of a program, built for a board in an empty folder."""
    emit_library(program, folder / "library")
    names = library_names(program.name)
    model = FirmwareModel(
        folder / "library",
        names.name,
        names.header,
        names.symbol,
        program.arena_bytes,
        len(program.inputs),
    )
    emit_project([model], board, folder / "project")
    return build(folder / "project", board).elf
