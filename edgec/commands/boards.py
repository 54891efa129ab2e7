"""`edgec boards new` and `edgec boards show`: board files for the user, and what is in one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError, InternalError
from edgec.base.output_file import check_writable, write_whole
from edgec.target.board import Board, board_names, board_of, load_board
from edgec.target.board_text import board_text
from edgec.target.debug_probes import usb_ids
from edgec.target.manifest import read_manifest
from edgec.target.new_board import new_board


@dataclass(frozen=True, slots=True)
class WrittenBoard:
    """Result of `write_new_board`.

    Attributes:
        path: the file.
        board: the board it describes.
        to_check: lines of the file that its user has to check, with their numbers from 1.
    """

    path: Path
    board: Board
    to_check: tuple[tuple[int, str], ...]


def write_new_board(
    name: str, like: str, manifest: Path | None = None, out: Path | None = None
) -> WrittenBoard:
    """Write the file of a new board.

    Args:
        name: the new board's name: lower case letters, digits and underscores.
        like: name, alias or file of a board of the same family.
        manifest: JSON file of PlatformIO that describes the new board.
        out: the file to write; default: `NAME.toml` here.

    Raises:
        ConfigError: the board cannot be made, or the file exists or cannot be written.
    """
    if name in board_names():
        raise ConfigError("there is a board of this name", where=name, hint="choose another name")
    found = load_board(like)
    path = Path(f"{name}.toml") if out is None else out
    made = new_board(name, found, None if manifest is None else read_manifest(manifest))
    text = board_text(made.board, made.notes)
    board = board_of(tomllib.loads(text), f"{name}.toml")
    if board != made.board:
        raise InternalError("the board file says something else than was meant", where=name)
    if path.exists():
        raise ConfigError("the file exists", where=str(path), hint="choose another with -o")
    check_writable(path)
    write_whole(path, text.encode())
    lines = enumerate(text.splitlines(), start=1)
    return WrittenBoard(path, board, tuple((n, line) for n, line in lines if "CHECK: " in line))


def checked_by(board: Board) -> str:
    """Evidence that firmware of this board runs: the emulator of edgec's tests, and its limits."""
    kind = board.emulator.kind
    if board.is_host:
        return "this computer runs the program itself"
    if kind == "none":
        return "built only: no emulator runs it; clocks and console are not checked"
    if kind == "qemu-user":
        return "the program runs in QEMU, bit for bit; the board itself is not checked"
    if kind == "qemu":
        return f"runs in QEMU's machine {board.emulator.machine}; not seen on silicon"
    return "runs in edgec's emulator, with models of clocks and console; not seen on silicon"


def described(board: Board) -> dict[str, Any]:
    """A board as plain JSON data: its file, and what follows from it."""
    return {
        **board.to_json(),
        "flash_bytes": board.flash_bytes,
        "ram_bytes": board.ram_bytes,
        "arena_limit_bytes": board.arena_limit_bytes,
        "gcc": f"{board.core.gcc_prefix}gcc",
        "gcc_flags": list(board.gcc_flags),
        "usb_ids": [f"{vendor:04x}:{product:04x}" for vendor, product in sorted(usb_ids(board))],
        "checked_by": checked_by(board),
    }
