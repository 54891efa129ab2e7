"""A main program of the user's own: C files that take the place of the console's main.c."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import ConfigError, system_reason
from edgec.base.names import shown

MAIN_FOLDER = "src/main"
"""Folder of the user's main program in the project of a build."""
_SUFFIXES = (".c", ".h")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_MOST_BYTES = 1 << 20
_MOST_FILES = 256
_HINT = "give a C file, or a folder with C files and headers"


@dataclass(frozen=True, slots=True)
class MainProgram:
    """C sources of the user's main program, from `--main`.

    Attributes:
        path: a C file, or a folder.
        files: names and text of its C files and headers.
    """

    path: Path
    files: Mapping[str, str]

    def place(self, name: str) -> Path:
        """A file of it by its name."""
        return self.path / name if self.path.is_dir() else self.path


def main_files(path: Path) -> tuple[Path, ...]:
    """The files of a main program: of a folder its C files and headers, in order.

    Raises:
        ConfigError: it is neither a C file nor a folder that holds one, or a name is no plain one.
    """
    try:
        path.stat()
        found = tuple(sorted(path.iterdir())) if path.is_dir() else (path,)
    except OSError as error:
        raise _unreadable(path, error) from error
    files = tuple(each for each in found if each.suffix in _SUFFIXES)
    if not any(each.suffix == ".c" for each in files):
        raise ConfigError("is no C file and no folder of them", where=str(path), hint=_HINT)
    if len(files) > _MOST_FILES:
        raise ConfigError(f"holds more than {_MOST_FILES} files", where=str(path), hint=_HINT)
    for each in files:
        if not _NAME.fullmatch(each.name):
            raise ConfigError(
                f"{shown(each.name)!r} is no name for a C file of firmware",
                where=str(path),
                hint="use letters, digits, '_', '-' and '.'",
            )
    return files


def read_main(path: Path) -> MainProgram:
    """Read the main program that the user named.

    Args:
        path: a C file, or a folder of C files and headers.

    Raises:
        ConfigError: as `main_files`, or a file cannot be read.
    """
    return MainProgram(path, {file.name: _text(file) for file in main_files(path)})


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError("is too large for a C file", where=str(path), hint=_HINT)
        return path.read_text("utf-8")
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise ConfigError("is no text in UTF-8", where=str(path), hint=_HINT) from error


def _unreadable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"cannot be read: {system_reason(error)}", where=str(path), hint=_HINT)
