"""The folder a compilation ends in: written elsewhere first, then moved into place as a whole.

A compilation that fails, is interrupted or runs out of disk leaves the earlier result as it was.
`manifest.json` lists every file with its SHA-256, so that edgec only ever replaces what it wrote: a
folder that is not its own, or a generated file that somebody edited, is refused, not overwritten.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgec.base.errors import ConfigError, EdgecError, system_reason
from edgec.base.interrupts import interrupts_deferred

MANIFEST = "manifest.json"
_IGNORED_PARTS = (".pio", "__pycache__")


@contextmanager
def staged_output(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A new folder to write into; on success its content replaces that of `target`.

    Args:
        target: the output folder; created with its parents.
        force: replace generated files that were edited since.

    Raises:
        ConfigError: `target` is a file, holds files that are not edgec's, or was edited.
    """
    staging = _staging(target, force=force)
    try:
        yield staging
        _write_manifest(staging)
        with interrupts_deferred(), _locked(target.parent):
            _install(staging, target, force=force)
    except EdgecError as error:
        # The staging folder is gone when the message is read.
        error.where = error.where.replace(str(staging), str(target))
        raise
    except OSError as error:
        where = str(error.filename or target).replace(str(staging), str(target))
        reason = f"{system_reason(error)}; earlier results are as they were"
        raise ConfigError(reason, where=where) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _staging(target: Path, *, force: bool) -> Path:
    """A new folder beside `target`, on the same file system."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent):
            _check_replaceable(target, force=force)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        staging.chmod(0o755)
    except OSError as error:
        reason = f"cannot write there: {system_reason(error)}"
        raise ConfigError(reason, where=str(target), hint="choose another --out") from error
    return staging


def check_writable(path: Path) -> None:
    """Say before long work what `write_whole` would say after it, as far as that can be known.

    Raises:
        ConfigError: it is a folder, or no file can be put there.
    """
    if path.is_dir():
        raise ConfigError("is a folder", where=str(path), hint="name the file to write")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ConfigError(
            f"cannot be written: {above} is {'not writable' if above.is_dir() else 'a file'}",
            where=str(path),
            hint="choose another --output",
        )


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there as a whole or not at all.

    Raises:
        ConfigError: it cannot be written; an earlier file is as it was.
    """
    scratch = path.with_name(f".{path.name[:80]}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            scratch.write_bytes(data)
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        reason = f"cannot be written: {system_reason(error)}"
        raise ConfigError(reason, where=str(path)) from error


def _check_replaceable(target: Path, *, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise ConfigError(
            "the output folder is a file", where=str(target), hint="choose another --out"
        )
    if not target.exists() or not any(target.iterdir()):
        return
    manifest = _read_manifest(target)
    edited = [name for name, digest in manifest.items() if not _unchanged(target / name, digest)]
    owned = {name.split("/")[0] for name in manifest}
    added = [
        str(path.relative_to(target))
        for entry in sorted(owned)
        if (target / entry).is_dir()
        for path in _files(target / entry)
        if str(path.relative_to(target)) not in manifest
    ]
    if (edited or added) and not force:
        raise ConfigError(
            f"generated files were changed by hand: {', '.join((edited + added)[:5])}",
            where=str(target),
            hint="choose another --out, or --force to discard these changes",
        )


def _read_manifest(target: Path) -> dict[str, str]:
    try:
        manifest = json.loads((target / MANIFEST).read_text("utf-8"))
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
    return all(part not in ("", ".", "..") and "\0" not in part for part in name.split("/"))


def _write_manifest(folder: Path) -> None:
    files = {str(path.relative_to(folder)): _digest(path) for path in _files(folder)}
    text = json.dumps({"files": files}, indent=1, sort_keys=True)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def _install(staging: Path, target: Path, *, force: bool) -> None:
    """Swap each top-level entry in; entries of the old result that are gone now are removed."""
    target.mkdir(exist_ok=True)
    old = (
        {name.split("/")[0] for name in _read_manifest(target)} if any(target.iterdir()) else set()
    )
    new = {entry.name for entry in staging.iterdir()}
    _check_not_taken(target, new - old, force=force)
    attic = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    moved: list[tuple[Path, Path]] = []

    def move(source: Path, destination: Path) -> None:
        if source.exists():
            source.rename(destination)
            moved.append((source, destination))

    try:
        # The manifest goes first and comes last: a folder without one is never taken for complete.
        for name in sorted(old | new | {MANIFEST}, key=lambda entry: entry != MANIFEST):
            move(target / name, attic / name)
        for name in sorted(new, key=lambda entry: entry == MANIFEST):
            move(staging / name, target / name)
    except BaseException:
        for source, destination in reversed(moved):
            destination.rename(source)
        attic.rmdir()
        raise
    shutil.rmtree(attic, ignore_errors=True)


def _check_not_taken(target: Path, added: set[str], *, force: bool) -> None:
    """Files of the user's may lie beside the result, but not where a new part of it goes."""
    taken = sorted(name for name in added - {MANIFEST} if (target / name).exists())
    if taken and not force:
        raise ConfigError(
            f"files that edgec did not write are in the way: {', '.join(taken)}",
            where=str(target),
            hint="move them, or --force to discard them",
        )


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part in _IGNORED_PARTS for part in path.parts):
            yield path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unchanged(path: Path, digest: str) -> bool:
    return path.is_file() and _digest(path) == digest


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other edgec processes from swapping results in `folder` meanwhile.

    Of two that compile into one place, the one that ends last wins, as a whole.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # file systems without locks: as good as it gets
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
