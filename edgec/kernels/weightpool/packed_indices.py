"""Indices of vectors, packed into a stream of bits."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array


def packed_indices(indices: Array, bits: int) -> Array:
    """A little-endian stream of numbers of `bits` bits each, row-major; uint8 [bytes].

    Bit i of the stream is bit i % 8 of byte i // 8; bits after the last number are 0.
    """
    flat = indices.reshape(-1, 1).astype(np.uint16)
    planes = (flat >> np.arange(bits, dtype=np.uint16)) & 1
    return np.packbits(planes.astype(np.uint8), bitorder="little")
