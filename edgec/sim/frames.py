"""Messages between edgec and the process that runs a compiled library: JSON, then arrays.

A message is the length of its JSON text (32 bits, little-endian), the text, and the bytes of the
arrays and byte strings that the text announces.  The other side may be code of a stranger, so each
length is checked before anything is read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import SimulationError

_MAX_HEAD = 1 << 20
_MAX_BYTES = 1 << 31
_TYPES = {"int8", "int16", "int32", "uint8"}

Read = Callable[[int], bytes]
"""Reads exactly as many bytes, or raises `SimulationError`."""


def packed(head: dict[str, Any], arrays: Sequence[Array] = ()) -> list[bytes]:
    """A message, in parts that are written one after the other."""
    shapes = [[array.dtype.name, list(array.shape)] for array in arrays]
    text = json.dumps({**head, "arrays": shapes}).encode()
    return [len(text).to_bytes(4, "little"), text, *(array.tobytes() for array in arrays)]


def unpacked(read: Read) -> tuple[dict[str, Any], list[Array]]:
    """The next message.

    Raises:
        SimulationError: it is none, it announces more than 2 GiB, or the stream ends.
    """
    size = int.from_bytes(read(4), "little")
    if size > _MAX_HEAD:
        raise SimulationError("a message of the compiled model is damaged")
    try:
        head = json.loads(read(size))
        shapes = [(str(name), [int(axis) for axis in shape]) for name, shape in head["arrays"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SimulationError("a message of the compiled model is damaged") from error
    return head, [_array(read, name, shape) for name, shape in shapes]


def _array(read: Read, name: str, shape: Sequence[int]) -> Array:
    if name not in _TYPES or len(shape) > 16 or any(axis < 0 for axis in shape):
        raise SimulationError("a message of the compiled model is damaged")
    dtype = np.dtype(name)
    size = math.prod(shape) * dtype.itemsize
    if size > _MAX_BYTES:
        raise SimulationError(f"a message of the compiled model has {size:,} bytes")
    return np.frombuffer(read(size), dtype).reshape(shape)
