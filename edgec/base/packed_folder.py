"""A folder of files as one sequence of bytes, with a record of plain data beside it."""

from __future__ import annotations

import io
import json
import stat
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

_RECORD = "record.json"
_FILES = "files"
_LEVEL = 1
"""zlib's fastest: packing is part of a command that people wait for."""


@dataclass(frozen=True, slots=True)
class PackedFolder:
    """What `pack` put together.

    Attributes:
        record: the plain data.
        data: the whole, as `pack` returned it.
    """

    record: Any
    data: bytes

    def unpack(self, folder: Path) -> None:
        """Write the files into an existing folder, as new ones: with the time of now.

        Raises:
            OSError: it cannot be written.
        """
        try:
            with tarfile.open(fileobj=io.BytesIO(self.data)) as tar:
                for member in tar:
                    if member.name.startswith(f"{_FILES}/"):
                        _unpack_one(tar, member, folder)
        except tarfile.TarError as error:
            raise OSError(f"packed files cannot be unpacked: {error}") from error


def _unpack_one(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a file or folder; by hand, because tarfile of Python 3.11.2 has no safe extraction."""
    inside = PurePosixPath(member.name).relative_to(_FILES)
    if inside.is_absolute() or ".." in inside.parts:
        raise OSError(f"a packed file lies outside: {member.name!r}")
    target = folder / inside
    if member.isdir():
        target.mkdir(exist_ok=True)
        return
    source = tar.extractfile(member)
    if source is None:
        raise OSError(f"packed as no file: {member.name!r}")
    target.write_bytes(source.read())
    if member.mode & stat.S_IXUSR:
        target.chmod(0o755)


def pack(folder: Path, record: object) -> bytes:
    """A folder with all files, folders and marks of programs, and a record of plain JSON data.

    Raises:
        OSError: it cannot be read.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=_LEVEL) as tar:
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
    except (tarfile.TarError, EOFError, KeyError, OSError) as error:
        raise ValueError("not what was packed") from error
