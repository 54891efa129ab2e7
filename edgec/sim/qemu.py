"""QEMU's machines as a byte stream to the emulated board's console."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from edgec.board import Board
from edgec.errors import ConfigError
from edgec.toolchain import process
from edgec.toolchain.stream import StreamingProcess, open_stream

_PROGRAM = "qemu-system-arm"


@contextlib.contextmanager
def open_qemu(elf: Path, board: Board) -> Iterator[StreamingProcess]:
    """Run firmware, known to fit the board, on QEMU's model of it.

    Raises:
        ConfigError: QEMU is not installed.
    """
    program = process.which(_PROGRAM)
    if program is None:
        raise ConfigError(
            f"emulating {board.name} needs {_PROGRAM}, which is not on PATH",
            hint="apt-get install qemu-system-arm",
        )
    argv: list[str | Path] = [
        program,
        "-M",
        board.emulator.machine,
        "-kernel",
        elf.absolute(),
        *("-display", "none", "-monitor", "none", "-serial", "stdio"),
    ]
    with open_stream(argv) as stream:
        yield stream
