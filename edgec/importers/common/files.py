"""Bytes of model files."""

from __future__ import annotations

from pathlib import Path

from edgec.base.errors import ImportModelError
from edgec.base.limits import MAX_MODEL_BYTES
from edgec.base.names import shown


def read_file(path: Path, limit: int = MAX_MODEL_BYTES) -> bytes:
    """The bytes of a model file.

    Raises:
        ImportModelError: there is no such file, it cannot be read, or it has more than `limit`
            bytes.
    """
    where = shown(str(path))
    try:
        if not path.is_file():
            raise ImportModelError(
                "no such model file",
                where=where,
                hint="give the path of an ONNX or TensorFlow Lite file",
            )
        if path.stat().st_size > limit:
            raise ImportModelError(f"the file is larger than {limit >> 20} MiB", where=where)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise ImportModelError(f"the model cannot be read: {error}", where=where) from error
