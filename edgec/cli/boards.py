"""The command `edgec boards`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from edgec.cli.options import (
    Json,
)
from edgec.report import console
from edgec.report.tables import table

if TYPE_CHECKING:
    from edgec.target.board import Board


def boards(json: Json = False) -> None:
    """List the boards that edgec builds firmware for."""
    from edgec.target.board import list_boards

    found = list_boards()
    if json:
        console.print_json([board.to_json() for board in found])
        return
    columns = ("board", "alias", "core", ">MHz", ">flash", ">RAM", "emulator", "name")
    console.out.print(table("Boards", columns, board_rows(found)))
    console.print_next("edgec", "compile", "MODEL.onnx", "--board", "nucleo")


def board_rows(boards: Sequence[Board]) -> list[tuple[str, ...]]:
    """One row per board: name, aliases, core, MHz, flash, RAM, emulator, title."""
    return [
        (
            board.name,
            ", ".join(board.aliases),
            board.core.value,
            f"{board.clock_hz / 1e6:.0f}" if board.clock_hz else "",
            memory_size(board.flash_bytes),
            memory_size(board.ram_bytes),
            board.emulator.kind if board.emulator.kind != "none" else "",
            board.title,
        )
        for board in boards
    ]


def memory_size(size: int | None) -> str:
    """A size in bytes as text with its unit; empty for None."""
    if size is None:
        return ""
    return f"{size // 1024} KB" if size < 64 << 20 else f"{size >> 20} MB"
