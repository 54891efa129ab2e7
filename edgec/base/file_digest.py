"""Digests of files and folders: SHA-256 of what they hold."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable
from pathlib import Path


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal.

    Raises:
        OSError: it is no plain file (a pipe could be read only once), or cannot be read.
    """
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "no plain file", str(path))
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_files(folder: Path, wanted: Callable[[Path], bool]) -> str:
    """SHA-256 of the names and bytes of files in a folder and below it, hexadecimal.

    Args:
        folder: the folder.
        wanted: which files count, by their paths from there.

    Raises:
        OSError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if wanted(name) and path.is_file():
            digest.update(f"{len(str(name))} {name} {file_digest(path)}\n".encode())
    return digest.hexdigest()
