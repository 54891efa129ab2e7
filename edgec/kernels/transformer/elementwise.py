"""Distances of functions of two tensors whose elements may take several bytes."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.spec import Loop


def elementwise_distances(loops: Sequence[Loop], read: int, written: int) -> tuple[int, int]:
    """Distances to both tensors.

    Args:
        loops: over y, with the strides of both.
        read: bytes of an element of these.
        written: bytes of an element of y.
    """
    return by_bytes(loops, 0, read, written), by_bytes(loops, 1, read, written)
