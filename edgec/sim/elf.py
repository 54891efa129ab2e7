"""Opens a firmware ELF for those that read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from edgec.base.errors import SimulationError

_MAX_FILE_BYTES = 1 << 30

_Found = TypeVar("_Found")


def read_elf(elf: Path, read: Callable[[ELFFile], _Found]) -> _Found:
    """Open a file and return the result of `read` on it.

    Raises:
        SimulationError: the file is missing, too large or damaged, or what `read` raises.
    """
    try:
        if elf.stat().st_size > _MAX_FILE_BYTES:
            raise SimulationError("the file is too large for firmware", where=str(elf))
        with elf.open("rb") as file:
            return read(ELFFile(file))
    except OSError as error:
        raise SimulationError(
            f"cannot read the firmware: {error.strerror}",
            where=str(elf),
            hint="build it first: edgec compile",
        ) from error
    # pyelftools lets the errors of its struct and string decoding through on damaged files.
    except (ELFError, ValueError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        raise SimulationError(f"not a firmware ELF: {error}", where=str(elf)) from error
