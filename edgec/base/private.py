"""Files and folders that belong to the user alone, so that what they hold can be trusted.

A file is looked at before it is opened: opening a pipe waits for its other end, opening a device
can do anything.  Links are never followed, and only files within a size are read.

A secret of the user tells files that edgec keeps from files of others.  Files of other users that
say what is built and run on this computer are asked for first.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgec.base.errors import ConfigError, system_reason
from edgec.base.system import (
    AT_ONCE,
    CLOSED_IN_CHILDREN,
    FOLDER,
    HAS_DIR_FD,
    NO_FOLLOW,
    effective_user_id,
)

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_USE = stat.S_IRWXG | stat.S_IRWXO
_NO_LINK = NO_FOLLOW | CLOSED_IN_CHILDREN


def owner_name(user: int) -> str:
    """The name of a user, or the number where the system knows none."""
    with contextlib.suppress(KeyError, ImportError):
        import pwd  # noqa: PLC0415  (not on Windows)

        return pwd.getpwuid(user).pw_name
    return f"user {user}"


@contextmanager
def private_folder(path: Path, *, create: bool = False) -> Iterator[int | None]:
    """A descriptor of a folder that belongs to this user, and that nobody else can write to.

    None on systems that open no folders: there its files are named by their paths.

    Args:
        path: the folder; no link.
        create: make it, with its parents, if it is not there.

    Raises:
        ConfigError: it is a link, belongs to somebody else, or others can write to it.
        OSError: it is not there, is no folder, or cannot be opened.
    """
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)
    if stat.S_ISLNK(path.lstat().st_mode):
        raise ConfigError("is a link", where=str(path), hint="name the folder itself")
    if not HAS_DIR_FD:
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield None
        return
    folder = os.open(path, os.O_RDONLY | FOLDER | _NO_LINK)
    try:
        _check_owner(os.fstat(folder), path, _OTHERS_WRITE)
        yield folder
    finally:
        os.close(folder)


@contextmanager
def private_file(
    path: Path, most_bytes: int, *, folder: int | None = None, secret: bool = False
) -> Iterator[int]:
    """A descriptor of a plain file that belongs to this user, for reading.

    Args:
        path: the file.
        most_bytes: most bytes that it may have.
        folder: descriptor of the folder that holds it; None: the one that `path` names.
        secret: others may not read it either.

    Raises:
        ConfigError: it is a link, a pipe, a device or too large, or others can change it.
        OSError: it is not there, or cannot be opened.
    """
    name = in_folder(path, folder)
    seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(seen.st_mode):
        raise ConfigError("is no plain file", where=str(path), hint="remove it")
    file = os.open(name, os.O_RDONLY | AT_ONCE | _NO_LINK, dir_fd=folder)
    try:
        found = os.fstat(file)
        if effective_user_id() is not None and not os.path.samestat(seen, found):
            raise ConfigError("changes while it is opened", where=str(path))
        _check_owner(found, path, _OTHERS_USE if secret else _OTHERS_WRITE)
        if found.st_size > most_bytes:
            reason = f"is larger than {most_bytes:,} bytes"
            raise ConfigError(reason, where=str(path), hint="remove it")
        yield file
    finally:
        os.close(file)


def in_folder(path: Path, folder: int | None) -> Path:
    """The name of a file for calls that take the descriptor of its folder, or None."""
    return path if folder is None else Path(path.name)


def read_all(file: int) -> bytes:
    """The bytes of a file that `private_file` opened; no more than it had then."""
    size = os.fstat(file).st_size
    with os.fdopen(os.dup(file), "rb") as stream:
        return stream.read(size)


def _check_owner(found: os.stat_result, path: Path, others: int) -> None:
    """Refuse what others own or may touch.

    Raises:
        ConfigError: it belongs to another user, or its mode has one of the bits `others`.
    """
    user = effective_user_id()
    if user is None:  # Windows: the access list of the user's folders keeps others out
        return
    if found.st_uid != user:
        what = f"belongs to another user, {owner_name(found.st_uid)}"
        raise ConfigError(what, where=str(path))
    if found.st_mode & others:
        verb, bits = ("written", "w") if found.st_mode & _OTHERS_WRITE else ("read", "rwx")
        hint = f"chmod go-{bits} {path}"
        raise ConfigError(f"can be {verb} by others", where=str(path), hint=hint)


SECRET_BYTES = 32
_NAME = "cache-secret"


def secret_path() -> Path | None:
    """The file of the secret; None where the user has no home folder.

    It lies in `edgec` in `XDG_STATE_HOME` or in `~/.local/state`, never in the cache: whoever
    may fill a cache (a shared folder, a CI service) is not to know it.
    """
    state = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(state) if state else Path.home() / ".local" / "state") / "edgec" / _NAME
    except RuntimeError:
        return None


def user_secret() -> bytes:
    """The secret, `SECRET_BYTES` random bytes; made at the first use.

    Raises:
        ConfigError: it cannot be kept, or others can read or change it.
    """
    path = secret_path()
    if path is None:
        raise ConfigError("there is no home folder for the secret of the cache")
    try:
        found = _read(path)
        if found is None:
            _make(path)
            found = _read(path)
    except OSError as error:
        reason = f"the secret of the cache cannot be kept: {system_reason(error)}"
        raise ConfigError(reason, where=str(path)) from error
    if found is None or len(found) != SECRET_BYTES:
        raise ConfigError("is no secret of edgec", where=str(path), hint="remove it")
    return found


def _read(path: Path) -> bytes | None:
    try:
        with private_file(path, SECRET_BYTES, secret=True) as file:
            return read_all(file)
    except FileNotFoundError:
        return None


def _make(path: Path) -> None:
    """Write a new secret as a whole; of several processes that do so the first one wins."""
    with private_folder(path.parent, create=True):
        descriptor, temporary = tempfile.mkstemp(prefix=f".{_NAME}-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:  # nobody else can read what mkstemp makes
                file.write(secrets.token_bytes(SECRET_BYTES))
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(temporary)
        finally:
            Path(temporary).unlink()


_SYSTEM = 0


def check_own(path: Path, what: str, *, run: bool) -> None:
    """Refuse a file of another user, unless it is asked for.

    The system's own files (root's) are trusted, and under `sudo` those of who called it.

    Args:
        path: the file.
        what: what it is, for messages.
        run: the user wants it all the same.

    Raises:
        ConfigError: it, or the link that leads there, belongs to somebody else.
    """
    user = effective_user_id()
    if run or user is None:
        return
    mine = {user, _SYSTEM}
    if user == _SYSTEM and os.environ.get("SUDO_UID", "").isdigit():
        mine.add(int(os.environ["SUDO_UID"]))
    try:
        owners = {path.stat().st_uid, path.lstat().st_uid}
    except OSError:  # whoever reads it says why
        return
    if foreign := sorted(owners - mine):
        raise ConfigError(
            f"the {what} belongs to another user, {owner_name(foreign[0])}: what it names would be "
            "built and run here",
            where=str(path),
            hint="look at it and at what it names, then give --run",
        )
