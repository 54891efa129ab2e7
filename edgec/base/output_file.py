"""Files that commands write: there as a whole or not at all, and refused before long work."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from edgec.base.errors import ConfigError, system_reason
from edgec.base.swap import mount_points
from edgec.base.work_folder import CONTAINER, work_folder


def check_writable(path: Path, reads: Iterable[Path | None] = ()) -> None:
    """Say before long work what `write_whole` would say after it, as far as that can be known.

    Args:
        path: the file to write.
        reads: files and folders of the user that the command reads, and so may not replace.

    Raises:
        ConfigError: it is one of these, it is a folder, or no file can be put there.
    """
    if _place(path) in {_place(each) for each in reads if each is not None}:
        raise ConfigError(
            "the file to write is one to read", where=str(path), hint="choose another file"
        )
    try:
        if path.is_dir():
            raise ConfigError("is a folder", where=str(path), hint="name the file to write")
        if _is_special(path):
            return
        place = _place(path)
        above = next(folder for folder in place.parents if folder.exists())
        if not above.is_dir():
            raise NotADirectoryError(20, f"{above} is a file")
        if os.path.lexists(place) and place in mount_points():
            raise OSError(16, "another file system is mounted there")
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        reason = f"cannot be written: {system_reason(error)}"
        raise ConfigError(reason, where=str(path), hint="choose another file") from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there as a whole or not at all.

    A link is followed, and a device or pipe is written to as it is.

    Raises:
        ConfigError: it cannot be written; an earlier file is as it was.
    """
    try:
        if _is_special(path):
            path.write_bytes(data)
            return
        place = _place(path)
        with work_folder(place.parent / CONTAINER) as work:
            (work / "file").write_bytes(data)
            (work / "file").replace(place)
    except OSError as error:
        reason = f"cannot be written: {system_reason(error)}"
        raise ConfigError(reason, where=str(path)) from error


def _place(path: Path) -> Path:
    """Real path of a file, links resolved: a rename would replace the link, not its target."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    """Whether it is there and is neither file nor folder: /dev/stdout, a named pipe."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
