"""A terminal of a certain size: what a command leaves on it, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = "import sys; sys.argv[0] = 'edgec'; from edgec.__main__ import main; main()"
_CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|([\r\n])|([^\x1b\r\n]+)")


@dataclass(frozen=True, slots=True)
class Screen:
    """What a command showed.

    Attributes:
        code: exit code of the command.
        lines: lines of the terminal from the first to the last that holds anything; a line that
            is wider than the terminal counts as the lines that it takes there.
    """

    code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)


def on_screen(
    words: Sequence[object],
    folder: Path,
    *,
    columns: int = 80,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
) -> Screen:
    """Run `edgec` in a terminal of its own.

    Args:
        words: the command line after `edgec`.
        folder: the current folder of the command.
        columns, rows: size of the terminal in characters.
        environment: variables beside those of this process.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    variables = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **(environment or {})}
    for name in ("COLUMNS", "LINES"):
        variables.pop(name, None)
    child = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *map(str, words)],
        cwd=folder,
        env=variables,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    data = b""
    try:
        while part := os.read(ours, 1 << 16):
            data += part
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
    return Screen(child.wait(), _shown(data.decode("utf-8", "replace"), columns))


def _shown(text: str, columns: int) -> tuple[str, ...]:
    """The lines of a terminal after some output: what was erased is gone, long lines are broken."""
    lines = [""]
    row = column = 0
    for found in _CONTROL.finditer(text):
        arguments, command, line_end, plain = found.groups()
        if line_end == "\r":
            column = 0
        elif line_end:
            row += 1
        elif command == "A":
            row = max(row - int(arguments or 1), 0)
        elif command == "K":
            lines[row] = "" if arguments == "2" else lines[row][:column]
        elif plain:
            before, after = lines[row][:column].ljust(column), lines[row][column + len(plain) :]
            lines[row] = f"{before}{plain}{after}"
            column += len(plain)
        lines += [""] * (row + 1 - len(lines))
    broken = [
        line[start : start + columns].rstrip()
        for line in lines
        for start in range(0, max(len(line.rstrip()), 1), columns)
    ]
    while broken and not broken[-1]:
        broken.pop()
    return tuple(broken)
