"""Attributes of nodes: numbers, axes, and padding of sliding windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from edgec.importers.common.tensors import UnsupportedError


def normal_axis(axis: int, rank: int, end_allowed: bool = False) -> int:
    """A non-negative axis; UnsupportedError when it lies outside the tensor."""
    if not -rank <= axis < rank + end_allowed:
        raise UnsupportedError(f"axis {axis} lies outside {rank} dimensions", "correct the model")
    return axis + rank if axis < 0 else axis


def inverse(perm: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `perm`."""
    return tuple(int(i) for i in np.argsort(perm))


def axis_last(rank: int, axis: int) -> tuple[int, ...]:
    """The permutation that moves `axis` of `rank` dimensions to the end."""
    return (*(i for i in range(rank) if i != axis), axis)


def matrices_swapped(rank: int) -> tuple[int, ...]:
    """The permutation that transposes each matrix [..., K, N] of `rank` dimensions."""
    return (*range(rank - 2), rank - 1, rank - 2)


def completed(wanted: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape to which `shape` is changed, with the one size that it leaves open as -1.

    Raises:
        UnsupportedError: it is impossible, or does not hold as many elements.
    """
    sizes = list(wanted)
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise UnsupportedError(f"shape {sizes} is impossible", "correct the model")
    if -1 in sizes:
        rest = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = math.prod(shape) // rest if rest else 0
    if math.prod(sizes) != math.prod(shape):
        raise UnsupportedError(
            f"shape {sizes} does not hold the elements of {list(shape)}",
            "if the model fixes another batch size there, export it with a batch of 1",
        )
    return tuple(sizes)


def finite_number(number: float) -> float:
    """The number itself.

    Raises:
        UnsupportedError: it is infinite or NaN.
    """
    if not math.isfinite(number):
        raise UnsupportedError(f"{number} is no finite number", "correct the model")
    return number


Sizes = tuple[int, ...]


def same_padding(
    sizes: Sequence[int], spans: Sequence[int], strides: Sequence[int]
) -> tuple[Sizes, Sizes]:
    """The padding with which a window fits as often as its stride fits into the image.

    Args:
        sizes: size of the image along each axis.
        spans: what a window covers along each axis, dilation included.
        strides: steps between windows.

    Returns:
        On one side of each axis and on the other; where they differ the second is larger by one.
    """
    totals = [
        max((-(-size // stride) - 1) * stride + span - size, 0)
        for size, span, stride in zip(sizes, spans, strides, strict=True)
    ]
    return tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
