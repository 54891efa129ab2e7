"""TOML files that a user wrote: read within limits, with one message where that fails."""

from __future__ import annotations

import errno
import stat
import tomllib
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_BOARD_BYTES, MAX_BOARD_LINE


def read_toml(
    path: Path, what: str, hint: str, most_bytes: int = MAX_BOARD_BYTES
) -> dict[str, Any]:
    """The keys of a TOML file of a user.

    Args:
        path: the file.
        what: what it is, for messages, such as "board file".
        hint: what to do when it cannot be read.
        most_bytes: the largest that is read.

    Raises:
        ConfigError: it cannot be read, is too large, or is not TOML.
    """
    try:
        return tomllib.loads(_text(path, what, hint, most_bytes))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot read the {what}: {reason}", where=str(path)) from error
    except (ValueError, RecursionError) as error:  # long numbers and deep arrays, too
        raise ConfigError(f"not a TOML file: {error}", where=str(path), hint=hint) from error


def _text(path: Path, what: str, hint: str, most_bytes: int) -> str:
    """The text of the file.

    Raises:
        ConfigError: it is a device or the like, or so large that reading it takes long.
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"the {what} is a device or a pipe", where=str(path), hint=hint)
    if found.st_size > most_bytes:
        size = f"{most_bytes >> 10:,} KB"
        raise ConfigError(f"the {what} is larger than {size}", where=str(path), hint=hint)
    text = path.read_text(encoding="utf-8")
    if max(map(len, text.splitlines()), default=0) > MAX_BOARD_LINE:
        reason = f"a line of the {what} is longer than {MAX_BOARD_LINE:,} characters"
        raise ConfigError(reason, where=str(path), hint=hint)
    return text
