"""Folders in which firmware can be built: their paths mean nothing but themselves to the tools."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from edgec.base.errors import ConfigError

PROJECT_DIR = "project"
"""The PlatformIO project in the folder of a build."""
_PLAIN = re.compile(r"[\w./ +-]*")
"""Paths that mean nothing but themselves to SCons (`$`) and to the shell that it starts."""


def check_build_place(folder: Path) -> None:
    """Say before long work that firmware of an output folder cannot be built.

    Raises:
        ConfigError: neither its path nor that of temporary files is plain.
    """
    temporary = Path(tempfile.gettempdir())
    if not is_plain(folder) and not is_plain(temporary):
        raise ConfigError(
            "firmware cannot be built in a path with such characters",
            where=str(temporary),
            hint="choose another --out, or another folder for temporary files by TMPDIR",
        )


def is_plain(path: Path) -> bool:
    """Whether firmware can be built in a folder."""
    return _PLAIN.fullmatch(str(path.absolute())) is not None
