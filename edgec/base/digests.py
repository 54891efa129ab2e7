"""Digests of plain data, of files and of folders.

Equal plain data have equal digests, everywhere: that of their canonical form.
The form of a value is ``<kind> <count>`` and a line feed, and then its content:

- None, bool, int, float, str, bytes: `count` bytes of text; floats in hexadecimal, so exact.
- An array: the kind names element type and shape; `count` bytes, little-endian, in C order.
- A tuple or list: the forms of its `count` items.  A set: the same, sorted.
- A mapping: `count` forms, a key and its value by turns, sorted by the form of the key.
- A member of an enumeration: the kind names the class; the form of its value.
- A dataclass: the kind names the class; `count` forms, the name and the value of each field by
  turns, in the order of the class.  A field with the metadata `LATER` is left out where it has its
  default: data that do not use it have the digest that they had before there was such a field.

Every length is said first, so that different data never run together to the same bytes.
"""

from __future__ import annotations

import dataclasses
import enum
import errno
import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError

LATER: Mapping[str, bool] = MappingProxyType({"later": True})
"""Metadata of a field with a default that was added to a record of which digests are known."""


def canonical_digest(value: object) -> str:
    """SHA-256 of the canonical form of `value`, 64 hexadecimal digits.

    Raises:
        InternalError: a type that has no canonical form.
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def canonical(value: object) -> bytes:
    """The canonical form of a value.

    Raises:
        InternalError: a type that has no canonical form.
    """
    match value:
        case enum.Enum():  # first: a member may be a number as well
            return _all(f"enum {type(value).__name__}", [canonical(value.value)])
        case np.generic():
            return canonical(value.item())
        case None | bool() | int() | float() | str() | bytes():
            return _atom(type(value).__name__, _content(value))
        case np.ndarray():
            return _array(value)
        case tuple() | list():
            return _all("list", map(canonical, value))
        case set() | frozenset():
            return _all("set", sorted(map(canonical, value)))
        case Mapping():
            items = sorted((canonical(key), canonical(found)) for key, found in value.items())
            return _all("map", (form for item in items for form in item))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _all(f"record {type(value).__name__}", _fields(value))
    raise InternalError("this type has no canonical form", where=type(value).__qualname__)


def _content(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    text = value.hex() if isinstance(value, float) else str(value)
    return text.encode("utf-8", "surrogatepass")


def _array(array: Array) -> bytes:
    if array.dtype.kind not in "biuf":
        raise InternalError("this element type has no canonical form", where=str(array.dtype))
    dtype = array.dtype.newbyteorder("<")
    return _atom(f"array {dtype.str} {list(array.shape)}", array.astype(dtype).tobytes())


def _fields(record: Any) -> Iterable[bytes]:
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if field.metadata != LATER or value != field.default:
            yield canonical(field.name)
            yield canonical(value)


def _atom(kind: str, content: bytes) -> bytes:
    return f"{kind} {len(content)}\n".encode() + content


def _all(kind: str, forms: Iterable[bytes]) -> bytes:
    found = list(forms)
    return f"{kind} {len(found)}\n".encode() + b"".join(found)


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
            text = name.as_posix()
            digest.update(f"{len(text)} {text} {file_digest(path)}\n".encode())
    return digest.hexdigest()
