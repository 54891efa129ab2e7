"""`.npy`: one array, [N, ...]."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import IO

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_SAMPLE_BYTES
from edgec.base.samples.request import Found, Request, listing_of

_HEADER_BYTES = 1 << 17
"""Bytes that hold any header that numpy reads."""


def read(path: Path, request: Request) -> Found:
    """The array of the file as "x".

    Raises:
        ConfigError: the file cannot be read, or the model has several inputs.
    """
    _ = request.single
    try:
        size = path.stat().st_size
        if size > MAX_SAMPLE_BYTES:
            raise ValueError(f"{size} bytes are too many")
        with path.open("rb") as stream:
            header_of(stream, size)
        array: Array = np.load(path, allow_pickle=False)
    except MemoryError:
        raise
    except Exception as error:  # numpy raises many types, documented nowhere
        raise ConfigError(
            f"not a readable .npy file ({reason_of(error)})", hint="write it with numpy.save"
        ) from error
    listing = listing_of({"x": array.shape})
    return Found({"x": array}, listing, "a .npy file holds the inputs alone")


def header_of(stream: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """Shape and element type of an array in numpy's format, before it is read.

    Args:
        stream: at the start of the array.
        size: bytes that the stream holds.

    Raises:
        ValueError: it claims more elements than the stream holds.
    """
    head = io.BytesIO(stream.read(_HEADER_BYTES))  # a header may claim to have gigabytes
    version = np.lib.format.read_magic(head)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(head)
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"it is shorter than its shape {list(shape)}")
    return shape, dtype


def reason_of(error: Exception) -> str:
    """The first line of an error, for a message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
