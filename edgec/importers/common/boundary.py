"""Translate exceptions of libraries that read model files into errors of edgec.

Bytes of model files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgec.base.errors import EdgecError, ImportModelError
from edgec.base.given_files import check_model_file
from edgec.base.limits import MAX_MODEL_BYTES
from edgec.base.names import printable, shown


@contextmanager
def library_call(what: str) -> Iterator[None]:
    """Turn whatever a library that reads model files raises into an `ImportModelError`.

    Only calls of these libraries go inside.  They raise many types, documented nowhere (protobuf's,
    C++'s, their own, and plain Python errors from following a malformed file), so this one place
    catches them all; the cause stays attached.

    Args:
        what: what it means for the model, one sentence.
    """
    try:
        yield
    except EdgecError:
        raise
    except Exception as error:
        raise ImportModelError(f"{what}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    """The innermost cause in words, one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shown_sentence(lines[0]) if lines else type(error).__name__


def shown_sentence(text: str) -> str:
    """A sentence of a library, on one line and not endless."""
    return text if len(text) <= 300 and text.isprintable() else shown(text)


def read_file(path: Path, limit: int = MAX_MODEL_BYTES) -> bytes:
    """The bytes of a model file.

    Raises:
        ImportModelError: there is no such file, it cannot be read, or it has more than `limit`
            bytes.
    """
    where = printable(str(path))
    try:
        check_model_file(path)
        if path.stat().st_size > limit:
            raise ImportModelError(f"the file is larger than {limit >> 20} MiB", where=where)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise ImportModelError(f"the model cannot be read: {error}", where=where) from error
