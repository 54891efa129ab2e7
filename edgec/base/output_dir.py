"""The folder a command's result goes into: written in a work folder, then moved in as a whole.

A command that fails, is interrupted or runs out of disk leaves the earlier result as it was.
`manifest.json` lists every file with its SHA-256, so that edgec only ever replaces what it wrote: a
folder that is not its own, or a generated file that somebody edited, is refused, not overwritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgec.base.errors import ConfigError, EdgecError, system_reason
from edgec.base.interrupts import interrupts_deferred
from edgec.base.swap import (
    MANIFEST,
    NEW,
    Swap,
    is_entry_name,
    mount_points,
    recover,
    recover_locked,
)
from edgec.base.work_folder import CONTAINER, container_locked, work_folder

_IGNORED_PARTS = (".pio", "__pycache__")


@contextmanager
def staged_output(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A new folder to write into; on success its content replaces that of `target`.

    It lies in `target` itself, and so on the same file system, whatever `target` is: a link, a
    mount point, the current folder.

    Args:
        target: the output folder; created with its parents.
        force: replace generated files that were edited since.

    Raises:
        ConfigError: `target` is a file, holds files that are not edgec's, or was edited.
    """
    place = Path(os.path.realpath(target))
    with _made(place, target), _work(place, target, force=force) as work:
        staging = work / NEW
        try:
            yield staging
            _write_manifest(staging)
            with interrupts_deferred(), container_locked(place / CONTAINER):
                recover_locked(place / CONTAINER)
                _install(work, place, target, force=force)
        except EdgecError as error:
            # The staging folder is gone when the message is read.
            error.where = error.where.replace(str(staging), str(target))
            raise
        except OSError as error:
            where = str(error.filename or target).replace(str(staging), str(target))
            reason = f"{system_reason(error)}; earlier results are as they were"
            raise ConfigError(reason, where=where) from error


def check_output(target: Path, *, force: bool = False) -> None:
    """Say before long work what `staged_output` would say.

    Args:
        target: the output folder; nothing is made.
        force: as for `staged_output`.

    Raises:
        ConfigError: it is a file, cannot be written, holds files that are not edgec's, or was
            edited.
    """
    place = Path(os.path.realpath(target))
    _check_folder(place, target)
    there = next(each for each in (place, *place.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise _unwritable(target, error) from error
    if place.is_dir():
        recover(place)
        _check_replaceable(place, target, force=force)
        _check_movable(place, target)


@contextmanager
def _made(place: Path, target: Path) -> Iterator[None]:
    """The folder, with its parents; on an error, those that were not there are removed again."""
    made = [folder for folder in (place, *place.parents) if not os.path.lexists(folder)]
    try:
        _make(place, target)
        yield
    except BaseException:
        with interrupts_deferred(), contextlib.suppress(OSError):  # others have written there
            for folder in made:
                folder.rmdir()
        raise


def _check_folder(place: Path, target: Path) -> None:
    if place.exists() and not place.is_dir():
        raise ConfigError(
            "the output folder is a file", where=str(target), hint="choose another --out"
        )


def _make(place: Path, target: Path) -> None:
    _check_folder(place, target)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(target, error) from error


@contextmanager
def _work(place: Path, target: Path, *, force: bool) -> Iterator[Path]:
    """A work folder in the output folder, if that may be replaced."""
    recover(place)
    with contextlib.ExitStack() as stack:
        try:
            work = stack.enter_context(work_folder(place / CONTAINER))
            (work / NEW).mkdir()
        except OSError as error:
            raise _unwritable(target, error) from error
        with container_locked(place / CONTAINER):  # nobody installs there meanwhile
            _check_replaceable(place, target, force=force)
            _check_movable(place, target)
        yield work


def _unwritable(target: Path, error: OSError) -> ConfigError:
    reason = f"cannot write there: {system_reason(error)}"
    return ConfigError(reason, where=str(target), hint="choose another --out")


def _check_replaceable(place: Path, target: Path, *, force: bool) -> None:
    if not _entries(place):
        return
    manifest = _read_manifest(place, target)
    edited = [name for name, digest in manifest.items() if not _unchanged(place / name, digest)]
    owned = _owned(manifest)
    added = [
        path.relative_to(place).as_posix()
        for entry in sorted(owned)
        if (place / entry).is_dir()
        for path in _files(place / entry)
        if path.relative_to(place).as_posix() not in manifest
    ]
    if (edited or added) and not force:
        raise ConfigError(
            f"generated files were changed by hand: {', '.join((edited + added)[:5])}",
            where=str(target),
            hint="choose another --out, or --force to discard these changes",
        )


def _check_movable(place: Path, target: Path) -> None:
    """Say before the work what moving the old entries away would meet after it."""
    mounted = mount_points()
    owned = _owned(_read_manifest(place, target)) if _entries(place) else set()
    for entry in sorted(place / name for name in owned):
        if entry in mounted:
            reason = f"another file system is mounted at {entry.name}"
        elif entry.is_dir() and not entry.is_symlink() and not os.access(entry, os.W_OK):
            reason = f"{entry.name} is read-only"
        else:
            continue
        raise ConfigError(
            f"cannot be replaced: {reason}", where=str(target), hint="choose another --out"
        )


def _entries(place: Path) -> set[str]:
    """Names in the output folder, without the work folders of the processes that write to it."""
    return {entry.name for entry in place.iterdir()} - {CONTAINER}


def _owned(manifest: dict[str, str]) -> set[str]:
    return {name.split("/")[0] for name in manifest} | {MANIFEST}


def _read_manifest(place: Path, target: Path) -> dict[str, str]:
    try:
        manifest = json.loads((place / MANIFEST).read_text("utf-8"))
        files = {str(name): str(digest) for name, digest in manifest["files"].items()}
        if not all(_is_inside(name) for name in files):
            raise ValueError("a file outside the folder")
        return files
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            "the output folder is not empty and was not made by edgec",
            where=str(target),
            hint="choose another --out, or an empty folder",
        ) from error


def _is_inside(name: str) -> bool:
    """Whether a manifest's entry names a file below its folder; anybody may have edited it."""
    return all(is_entry_name(part) for part in name.split("/"))


def _write_manifest(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix(): _digest(path) for path in _files(folder)}
    text = json.dumps({"files": files}, indent=1, sort_keys=True)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def _install(work: Path, place: Path, target: Path, *, force: bool) -> None:
    """Swap each top-level entry in; entries of the old result that are gone now are removed."""
    there = _entries(place)
    owned = _owned(_read_manifest(place, target)) if there else set()
    new = {entry.name for entry in (work / NEW).iterdir()}
    _check_not_taken(there & (new - owned), target, force=force)
    Swap(work, place, tuple(sorted(there & (owned | new))), tuple(sorted(new))).run()


def _check_not_taken(taken: set[str], target: Path, *, force: bool) -> None:
    """Files of the user's may lie beside the result, but not where a new part of it goes."""
    if taken and not force:
        raise ConfigError(
            f"files that edgec did not write are in the way: {', '.join(sorted(taken))}",
            where=str(target),
            hint="move them, or --force to discard them",
        )


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(
            part in _IGNORED_PARTS for part in path.relative_to(folder).parts
        ):
            yield path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unchanged(path: Path, digest: str) -> bool:
    return path.is_file() and _digest(path) == digest
