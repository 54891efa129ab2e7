"""Results by key, in files that any number of processes read and write at once.

An entry is one file: a digest, then the content.  The digest is keyed with a secret of the user
(`base.private`) and covers key and content, so that an entry that somebody else put there, or
moved there from another key, is told from one of this user's.  Folders and entries of other users,
or that others can write, are not used at all (`base.private`).

An entry is written beside its place and renamed, so nobody sees half of one; one that is damaged is
removed and made anew.  Its time of modification is that of its last use: those that were used
longest ago go first when there are more bytes than the limit allows.

A finished build is packed: a folder of files as one sequence of bytes, with a record of plain data
beside it.  Two environment variables name the folder of the cache and limit its size.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import hmac
import io
import json
import logging
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from edgec.base.errors import ConfigError, system_reason
from edgec.base.options import parse_bytes
from edgec.base.private import in_folder, private_file, private_folder, read_all, user_secret
from edgec.base.work_folder import CONTAINER, work_folder

_log = logging.getLogger(__name__)
_SUFFIX = ".entry"
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class ResultCache:
    """A folder of entries.

    Attributes:
        folder: the folder; made when something is kept, for this user alone.
        limit_bytes: the most that all entries may take.
    """

    folder: Path
    limit_bytes: int

    def get(self, key: str) -> bytes | None:
        """Bytes that this user kept under a key of hexadecimal digits; None where there are none.

        A note says why an entry that is there is not used.
        """
        try:
            with private_folder(self.folder) as folder:
                return self._authentic(folder, key)
        except ConfigError as error:
            note_unused(error)
        except OSError:
            pass
        return None

    def put(self, key: str, content: bytes) -> None:
        """Keep something, and drop what was used longest ago where the limit asks for it.

        What is larger than the limit is not kept.

        Raises:
            ConfigError: the folder cannot be written, or is not this user's alone.
        """
        if _DIGEST_BYTES + len(content) > self.limit_bytes:
            return
        data = _digest(key, content) + content
        try:
            with (
                private_folder(self.folder, create=True) as folder,
                work_folder(self.folder / CONTAINER) as work,
            ):
                file = work / "file"
                file.touch(0o600)
                file.write_bytes(data)
                os.replace(file, in_folder(self._path(key), folder), dst_dir_fd=folder)
        except OSError as error:
            reason = f"cannot be written: {system_reason(error)}"
            raise ConfigError(reason, where=str(self.folder)) from error
        self._drop_oldest()

    def sizes(self) -> tuple[int, ...]:
        """Bytes of each entry."""
        return tuple(status.st_size for _, status in self._entries())

    def clear(self) -> None:
        """Remove every entry.

        Raises:
            ConfigError: the folder is not this user's alone.
            OSError: the folder cannot be written.
        """
        with contextlib.suppress(FileNotFoundError), private_folder(self.folder):
            for path, _ in self._entries():
                path.unlink(missing_ok=True)

    def _authentic(self, folder: int | None, key: str) -> bytes | None:
        """The content of an entry that has this user's digest; another one is removed.

        Raises:
            ConfigError: the entry is none of this user's.
            OSError: it is not there.
        """
        path = self._path(key)
        with private_file(path, self.limit_bytes, folder=folder) as file:
            data = read_all(file)
            content = data[_DIGEST_BYTES:]
            if hmac.compare_digest(_digest(key, content), data[:_DIGEST_BYTES]):
                with contextlib.suppress(OSError):  # a cache that others maintain is read alone
                    os.utime(file if os.utime in os.supports_fd else path)
                return content
        with contextlib.suppress(OSError):
            os.unlink(in_folder(path, folder), dir_fd=folder)
        raise ConfigError("is damaged, or was not made with this user's secret", where=str(path))

    def _drop_oldest(self) -> None:
        found = sorted(self._entries(), key=lambda entry: entry[1].st_mtime_ns)
        total = sum(status.st_size for _, status in found)
        for path, status in found:
            if total <= self.limit_bytes:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= status.st_size

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            with contextlib.suppress(OSError):  # another process removed it
                status = path.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    yield path, status

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"


def note_unused(error: ConfigError) -> None:
    """Say why something in the cache is not used."""
    hint = f" ({error.hint})" if error.hint else ""
    _note(f"{error.where}: {error.what}; it is not used{hint}")


@functools.cache
def _note(text: str) -> None:
    """Log a note once: a search looks into the cache for each of hundreds of keys."""
    _log.warning("%s", text)


def _digest(key: str, content: bytes) -> bytes:
    """HMAC-SHA256 of key and content.

    Raises:
        ConfigError: this user has no secret.
    """
    digest = hmac.new(user_secret(), f"{key}\n".encode(), hashlib.sha256)
    digest.update(content)
    return digest.digest()


_RECORD = "record.json"
_FILES = "files"
_NOT_PACKED = (
    *(tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error),
    *(FileExistsError, FileNotFoundError, NotADirectoryError, IsADirectoryError),
)
"""Raised by archives that `pack` did not make, whose entries meet each other."""
_LEVEL = 1
"""zlib's fastest: packing is part of a command that people wait for."""


@dataclass(frozen=True, slots=True)
class PackedFolder:
    """Folder that `pack` turned into bytes.

    Attributes:
        record: the plain data.
        data: the whole, as `pack` returned it.
    """

    record: Any
    data: bytes

    def unpack(self, folder: Path) -> None:
        """Write the files into an existing folder, as new ones: with the time of now.

        Raises:
            ValueError: it is not what `pack` made, or a packed file would lie outside the folder.
            OSError: the folder cannot be written.
        """
        try:
            with tarfile.open(fileobj=io.BytesIO(self.data)) as tar:
                for member in tar:
                    if member.name.startswith(f"{_FILES}/"):
                        _unpack_one(tar, member, folder)
        except _NOT_PACKED as error:
            raise ValueError(f"packed files cannot be unpacked: {error}") from error


def _unpack_one(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a file or folder; by hand, because tarfile of Python 3.11.2 has no safe extraction."""
    inside = PurePosixPath(member.name).relative_to(_FILES)
    if inside.is_absolute() or ".." in inside.parts or "\0" in member.name:
        raise ValueError(f"a packed file lies outside: {member.name!r}")
    target = folder / inside
    if member.isdir():
        target.mkdir(exist_ok=True)
        return
    source = tar.extractfile(member) if member.isreg() else None
    if source is None:
        raise ValueError(f"packed as no file: {member.name!r}")
    with target.open("xb") as file:  # as a new one: never through a link
        file.write(source.read())
    if member.mode & stat.S_IXUSR:
        target.chmod(0o755)


def pack(folder: Path, record: object) -> bytes:
    """A folder with all files, folders and marks of programs, and a record of plain JSON data.

    Raises:
        OSError: it cannot be read.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=_LEVEL, dereference=True) as tar:
        text = json.dumps(record).encode()
        about = tarfile.TarInfo(_RECORD)
        about.size = len(text)
        tar.addfile(about, io.BytesIO(text))
        tar.add(folder, _FILES)
    return buffer.getvalue()


def read_packed(data: bytes) -> PackedFolder:
    """The record of packed data, which are unpacked later.

    Raises:
        ValueError: `pack` did not make them.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            first = tar.next()  # `pack` wrote it first; the rest is not looked at
            found = None if first is None or first.name != _RECORD else tar.extractfile(first)
            if found is None:
                raise ValueError("the record is no file")
            return PackedFolder(json.loads(found.read()), data)
    except (tarfile.TarError, EOFError, KeyError, OSError, zlib.error) as error:
        raise ValueError("not what was packed") from error


FOLDER_VARIABLE = "EDGEC_CACHE_DIR"
LIMIT_VARIABLE = "EDGEC_CACHE_LIMIT"
DEFAULT_LIMIT = "1G"


def cache_folder() -> Path | None:
    """The folder of everything that edgec keeps; None where the user has no home folder.

    It is the one that `EDGEC_CACHE_DIR` names, else `edgec` in `XDG_CACHE_HOME` or in `~/.cache`.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(cache) if cache else Path.home() / ".cache") / "edgec"
    except RuntimeError:
        return None


def cache_limit_bytes() -> int:
    """The most bytes that finished builds may take, from `EDGEC_CACHE_LIMIT`; 0: keep none.

    Raises:
        ConfigError: the variable holds no size.
    """
    return parse_bytes(os.environ.get(LIMIT_VARIABLE) or DEFAULT_LIMIT, LIMIT_VARIABLE)
