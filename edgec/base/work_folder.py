"""Folders to write into until all is done: on the file system of the result, gone with their owner.

They lie in a *container*, a hidden folder beside or in what will be replaced, so that a rename is
all that the replacement takes.  Each is locked for as long as its process lives.  Whoever makes one
sweeps those whose owner was killed.  A folder with the file `UNFINISHED` is never swept: a
replacement was begun there, and it may hold the only copy of a result (`base.swap`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from edgec.base.errors import ConfigError
from edgec.base.interrupts import interrupts_deferred
from edgec.base.system import (
    AT_ONCE,
    FOLDER,
    HAS_FLOCK,
    NO_FOLLOW,
    lock_descriptor,
    lock_file,
    user_id,
)

CONTAINER = ".edgec-work"
UNFINISHED = "unfinished.json"
_LOCK = "lock"
_PREFIX = "of-"


@contextmanager
def work_folder(container: Path) -> Iterator[Path]:
    """A new folder in `container`; both are gone at the end, unless others use the container.

    Args:
        container: a folder named `CONTAINER`, or one that holds nothing else; created.
    """
    folder: Path | None = None
    held = contextlib.ExitStack()
    try:
        with interrupts_deferred(), container_locked(container):
            for stale in abandoned(container):
                _remove(stale)
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=container))
            held.callback(_hold(folder))
        yield folder
    finally:
        with interrupts_deferred():
            _leave(container, folder, held)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder in the user's own part of the folder for temporary files.

    Raises:
        ConfigError: somebody else has taken its name.
    """
    user = user_id()
    container = Path(tempfile.gettempdir()) / f"edgec-{'user' if user is None else user}"
    with contextlib.suppress(FileExistsError):
        container.mkdir(0o700)
    status = container.lstat()
    if container.is_symlink() or (user is not None and status.st_uid != user):
        hint = "remove it, or name another folder for temporary files by TMPDIR"
        raise ConfigError("belongs to somebody else", where=str(container), hint=hint)
    with work_folder(container) as folder:
        yield folder


@contextmanager
def container_locked(container: Path) -> Iterator[None]:
    """Keep other processes from making, sweeping and installing in `container` meanwhile."""
    if not HAS_FLOCK:
        with _container_locked_by_file(container):
            yield
        return
    descriptor = _locked(container)
    try:
        yield
    finally:
        os.close(descriptor)


def abandoned(container: Path) -> list[Path]:
    """Work folders whose process is gone; the container has to be locked."""
    return [folder for folder in sorted(container.glob(f"{_PREFIX}*")) if _is_abandoned(folder)]


def _locked(container: Path) -> int:
    """A descriptor that holds the lock of the container, which is created if it is not there."""
    while True:
        try:
            container.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            if _is_in_the_way(container):
                raise
            continue  # another process removed it between two looks
        try:
            # A link in a folder of somebody else would lead the sweep astray.
            descriptor = os.open(container, os.O_RDONLY | FOLDER | NO_FOLLOW)
        except FileNotFoundError:
            continue
        try:
            with contextlib.suppress(OSError):  # file systems without locks: as good as it gets
                lock_descriptor(descriptor, wait=True)
            if os.path.samestat(os.fstat(descriptor), container.lstat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was removed while we waited


def _is_in_the_way(container: Path) -> bool:
    """Something else than a folder has the name; one look, since others make and remove it."""
    try:
        return not stat.S_ISDIR(container.stat().st_mode)
    except FileNotFoundError:
        return container.is_symlink()


def _hold(folder: Path) -> Callable[[], None]:
    """Lock a new work folder, which nobody else knows yet; what gives the lock up."""
    if not HAS_FLOCK:
        return lock_file(folder / _LOCK, wait=False)
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    _try_lock(lock)
    return partial(os.close, lock)


@contextmanager
def _container_locked_by_file(container: Path) -> Iterator[None]:
    """As `container_locked`, by a file elsewhere: one inside would keep the container there."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(container))).hexdigest()[:32]
    locks = Path(tempfile.gettempdir()) / "edgec-locks"
    locks.mkdir(exist_ok=True)
    release = lock_file(locks / f"{name}.lock", wait=True)
    try:
        container.mkdir(parents=True, exist_ok=True)
        if container.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(container))
        yield
    finally:
        release()


def _is_abandoned(folder: Path) -> bool:
    if not HAS_FLOCK:
        if not folder.is_dir() or folder.is_symlink():
            return False
        with contextlib.suppress(OSError):
            lock_file(folder / _LOCK, wait=False)()
            return True
        return False
    try:
        descriptor = os.open(folder / _LOCK, os.O_RDONLY | AT_ONCE | NO_FOLLOW)
    except FileNotFoundError:  # its process was killed before it could lock: we hold the container
        return folder.is_dir() and not folder.is_symlink()
    except OSError:
        return False
    try:
        return _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        lock_descriptor(descriptor, wait=False)
    except OSError:  # held, or a file system without locks, where nobody can know
        return False
    return True


def _remove(folder: Path) -> None:
    if not (folder / UNFINISHED).exists():
        shutil.rmtree(folder, ignore_errors=True)


def _leave(container: Path, folder: Path | None, held: contextlib.ExitStack) -> None:
    """Remove a work folder, and the container if nobody else is in it."""
    with held:
        if container.is_dir():
            with contextlib.suppress(OSError), container_locked(container):
                held.close()  # some systems remove no file that is open
                if folder is not None:
                    _remove(folder)
                container.rmdir()
