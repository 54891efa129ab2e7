"""Writing generated files: only what changed, each file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from edgec.base.errors import CodegenError, InternalError


def write_tree(folder: Path, files: Mapping[str, str]) -> None:
    """Write `files` (text by relative path) below `folder`, touching only what differs.

    A file appears under its name when it is complete, so an interrupted or full-disk write leaves
    the old one.

    Raises:
        CodegenError: a file cannot be written.
        InternalError: a path leads out of the folder.
    """
    try:
        for name in sorted(files):
            _write(folder / _checked(name), files[name].encode("utf-8"))
    except OSError as error:
        raise CodegenError(
            f"cannot write generated code: {error.strerror or error}",
            where=str(error.filename or folder),
            hint="check that the folder is writable and the disk is not full",
        ) from error


def _checked(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise InternalError("a generated file would lie outside its folder", where=repr(name[:80]))
    return path


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
