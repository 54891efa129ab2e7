"""Distances of functions of two tensors whose elements may take several bytes."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.spec import Loop


def elementwise_distances(loops: Sequence[Loop], read: int, written: int) -> tuple[int, int]:
    """Distances to both tensors.

    Args:
        loops: over y, with the strides of both.
        read: bytes of an element of these.
        written: bytes of an element of y.
    """
    scaled = [Loop(loop.size, tuple(stride * read for stride in loop.strides)) for loop in loops]
    first, second = (max(by_element(scaled, operand, written), 0) for operand in (0, 1))
    return first, second
