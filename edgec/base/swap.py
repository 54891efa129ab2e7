"""One result takes the place of another, and a process that is killed meanwhile does no harm.

The entries of a folder cannot be exchanged in one step.  A list of what is to be moved is written
before the first move, and removed after the last; who finds it puts the earlier result back.

A folder that is a mount point of the operating system cannot be renamed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import ConfigError, system_reason
from edgec.base.interrupts import interrupts_deferred
from edgec.base.work_folder import CONTAINER, UNFINISHED, abandoned, container_locked

MANIFEST = "manifest.json"
"""Moved out first and in last: a folder without it is never taken for complete."""
NEW = "new"
_OLD = "old"


@dataclass(frozen=True, slots=True)
class Swap:
    """The exchange of entries of a folder.

    Attributes:
        work: a work folder on the same file system; the new entries are in its folder `NEW`.
        target: the folder.
        old: names of the entries that leave: all that are there and would be in the way.
        new: names of the entries that come.
    """

    work: Path
    target: Path
    old: tuple[str, ...]
    new: tuple[str, ...]

    def run(self) -> None:
        """Exchange the entries; all or none.

        Raises:
            OSError: the file system refuses; everything is as it was.
        """
        (self.work / _OLD).mkdir()
        self._write_list()
        try:
            for name in sorted(self.old, key=_manifest_first):
                _move(self.target / name, self.work / _OLD / name)
            for name in sorted(self.new, key=_manifest_first, reverse=True):
                _move(self.work / NEW / name, self.target / name)
        except BaseException:
            self.undo()
            raise
        (self.work / UNFINISHED).unlink()

    def undo(self) -> None:
        """Put the old entries back, from whatever point the exchange has come to."""
        for name in sorted(self.new, key=_manifest_first):
            if not _is_there(self.work / NEW / name):
                _move(self.target / name, self.work / NEW / name)
            elif name not in self.old:
                _remove(self.target / name)  # what a copy instead of a move has left
        for name in sorted(self.old, key=_manifest_first, reverse=True):
            if _is_there(self.work / _OLD / name):
                _remove(self.target / name)  # what a copy instead of a move has left
                _move(self.work / _OLD / name, self.target / name)
        (self.work / UNFINISHED).unlink()

    def _write_list(self) -> None:
        scratch = self.work / f"{UNFINISHED}.tmp"
        scratch.write_text(json.dumps({"old": self.old, "new": self.new}), "utf-8")
        scratch.rename(self.work / UNFINISHED)


def recover(target: Path) -> None:
    """Finish or take back what processes that were killed have begun in a folder.

    Raises:
        ConfigError: an earlier result cannot be put back.
    """
    container = Path(os.path.realpath(target)) / CONTAINER
    if not container.is_dir():
        return
    try:
        with interrupts_deferred(), container_locked(container):
            recover_locked(container)
            with contextlib.suppress(OSError):  # others use it
                container.rmdir()
    except OSError as error:
        if not any(container.glob(f"*/{UNFINISHED}")):
            return
        raise ConfigError(
            "a command was killed while it replaced this result, "
            f"and the earlier one cannot be put back: {system_reason(error)}",
            where=str(target),
        ) from error


def recover_locked(container: Path) -> None:
    """As `recover`, for a container that the caller has locked."""
    for work in abandoned(container):
        if (work / UNFINISHED).is_file():
            _finish(_read(work, container.parent))
        shutil.rmtree(work)


def _finish(swap: Swap) -> None:
    if _is_there(swap.work / NEW / MANIFEST):
        swap.undo()
    else:  # the last move was made
        (swap.work / UNFINISHED).unlink()


def _read(work: Path, target: Path) -> Swap:
    try:
        data = json.loads((work / UNFINISHED).read_text("utf-8"))
        old, new = (tuple(data[key]) for key in ("old", "new"))
        if not all(isinstance(name, str) and is_entry_name(name) for name in (*old, *new)):
            raise ValueError("a file outside the folder")
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            "a command was killed while it replaced this result, and its list is damaged",
            where=str(work),
            hint="the parts of both results are in there: move one of them back, then remove it",
        ) from error
    return Swap(work, target, old, new)


def is_entry_name(name: str) -> bool:
    """Whether it names an entry of a folder; anybody may have edited the list."""
    return name not in ("", "..") and Path(name).name == name and "\0" not in name


def _manifest_first(name: str) -> tuple[bool, str]:
    return name != MANIFEST, name


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _move(source: Path, destination: Path) -> None:
    """Move an entry, if there is one, to a name that is free."""
    if not _is_there(source):
        return
    try:
        source.rename(destination)
    except OSError as error:
        # A folder of a lower layer of an overlay cannot be renamed (containers have such layers).
        if error.errno != errno.EXDEV:
            raise
        whole = destination.with_name(f"{destination.name}.part")
        _remove(whole)
        _copy(source, whole)
        whole.rename(destination)
        _remove(source)


def _copy(source: Path, destination: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, destination, symlinks=True)
    else:
        shutil.copy2(source, destination, follow_symlinks=False)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif _is_there(path):
        path.unlink()


_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def mount_points() -> frozenset[Path]:
    """All places at which something is mounted; none where nothing lists them."""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # another system than Linux
        import psutil  # noqa: PLC0415

        with contextlib.suppress(OSError, psutil.Error):
            return frozenset(Path(each.mountpoint) for each in psutil.disk_partitions(all=True))
        return frozenset()
    return frozenset(Path(_unescaped(line.split(" ")[4])) for line in lines)


def _unescaped(text: str) -> str:
    """Spaces and the like are written as three octal digits.  Source: proc(5)."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)
