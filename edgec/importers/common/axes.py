"""Axes: negative ones, and permutations that bring one to the end."""

from __future__ import annotations

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
