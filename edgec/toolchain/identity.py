"""Installed programs and Python packages: the inputs of a build besides its files and options."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import BuildError
from edgec.target.board import Board
from edgec.toolchain import process

_EMULATORS = ("qemu-system-arm", "qemu-arm", "qemu-aarch64", "bwrap")
_PROGRAMS_OF_GCC = ("cc1", "as", "ld")
_FILES_OF_GCC = ("libc.a", "libgcc.a")
_TIMEOUT_S = 20.0

Facts = tuple[str, ...]


def toolchain_identity(board: Board) -> tuple[Facts, ...]:
    """Facts that change when a tool is replaced that builds or checks firmware of a board.

    Of a program and of the files of a compiler (its passes, assembler, linker, C library) they
    are path, size and time of modification, as `make` looks at files.
    """
    cross = f"{board.core.gcc_prefix}gcc"
    return (
        (platform.machine(), sys.platform, sys.version),
        _python_packages(),
        *(_program(name) for name in _EMULATORS),
        *(_program(name) for name in ("clang", "cc", "zig")),
        _compiler("gcc", ()),
        *(() if cross == "gcc" else (_compiler(cross, board.gcc_flags),)),
    )


def _python_packages() -> Facts:
    """Names and versions of all that is installed for this Python, as their folders say them."""
    folders = (Path(place) for place in sys.path)
    names = {each.name for folder in folders if folder.is_dir() for each in folder.iterdir()}
    return tuple(sorted(name for name in names if name.endswith((".dist-info", ".egg-info"))))


def _program(name: str) -> Facts:
    path = process.which(name)
    return (name, "none") if path is None else (name, *_file(path))


def _compiler(name: str, flags: Sequence[str]) -> Facts:
    found = _program(name)
    path = process.which(name)
    if path is None:
        return found
    asked = [
        *(f"-print-prog-name={program}" for program in _PROGRAMS_OF_GCC),
        *(f"-print-file-name={file}" for file in _FILES_OF_GCC),
    ]
    files = [_answer([path, *flags, question]) for question in asked]
    return (*found, *(fact for file in files for fact in _file(Path(file))))


def _answer(argv: Sequence[str | Path]) -> str:
    try:
        return process.run(argv, timeout_s=_TIMEOUT_S).stdout.strip()
    except BuildError:
        return ""


def _file(path: Path) -> Facts:
    """Path, size and time of modification of a file, on PATH where it is a bare name."""
    place = path if path.is_absolute() else process.which(str(path)) or path
    try:
        status = place.stat()
    except OSError:
        return (str(place), "missing")
    return (os.path.realpath(place), str(status.st_size), str(status.st_mtime_ns))
