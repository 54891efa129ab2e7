"""QEMU as a byte stream to the console of an emulated board, or of a Linux program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from edgec.base.errors import ConfigError
from edgec.target.board import Board
from edgec.toolchain import process
from edgec.toolchain.live_process import StreamingProcess, open_stream

_PROGRAM = "qemu-system-arm"
_USER_64, _USER_32 = "qemu-aarch64", "qemu-arm"


@contextlib.contextmanager
def open_qemu(elf: Path, board: Board) -> Iterator[StreamingProcess]:
    """Run firmware, known to fit the board, on QEMU's model of it.

    Raises:
        ConfigError: QEMU is not installed.
    """
    argv: list[str | Path] = [
        _installed(_PROGRAM, "qemu-system-arm", board),
        "-M",
        board.emulator.machine,
        "-kernel",
        elf.absolute(),
        *("-display", "none", "-monitor", "none"),
        *(["-serial", "null"] * board.emulator.serial),
        *("-serial", "stdio"),
    ]
    with open_stream(argv) as stream:
        yield stream


@contextlib.contextmanager
def open_qemu_user(elf: Path, board: Board) -> Iterator[StreamingProcess]:
    """Run a Linux program, known to be for the board, on QEMU's model of the board's core.

    Raises:
        ConfigError: QEMU is not installed.
    """
    program = _installed(qemu_user(board), "qemu-user", board)
    with open_stream([program, "-cpu", board.emulator.cpu, elf.absolute()]) as stream:
        yield stream


def check_qemu_user(board: Board) -> None:
    """Refuse a computer without the QEMU that runs Linux programs of a board's core.

    Raises:
        ConfigError: QEMU is not installed.
    """
    _installed(qemu_user(board), "qemu-user", board)


def qemu_user(board: Board) -> str:
    """The program that runs Linux programs of a board's core."""
    return _USER_64 if board.core.is_aarch64 else _USER_32


def _installed(program: str, package: str, board: Board) -> Path:
    path = process.which(program)
    if path is None:
        raise ConfigError(
            f"emulating {board.name} needs {program}, which is not on PATH",
            hint=f"apt-get install {package}",
        )
    return path
