"""Operands of the float executor's rules: arrays of a whole batch of samples.

Every array has an axis for the samples before the axes that the graph knows: a value of shape
[1, H, W, C] is [S, 1, H, W, C] for S samples, a constant has S = 1.  Axes of attributes count from
the graph's first axis.  Arrays are float64; int32 for token ids, masks and indices; codes as they
are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from edgec.base.dtypes import Array

Rule = Callable[[Any, Any], Array | tuple[Array, ...]]
"""The output of a node, or all of several, from its attributes and its operands, a record."""
Prepare = Callable[[Any, Array], Rule]
"""The rule of a node whose weights stay as they are, from its attributes and these weights."""


def aligned(*arrays: Array) -> list[Array]:
    """Arrays with as many axes as the largest has, as numpy broadcasts the graph's."""
    rank = max(array.ndim for array in arrays)
    return [_raised(array, rank) for array in arrays]


def _raised(array: Array, rank: int) -> Array:
    """More axes, after that of the samples."""
    missing = (1,) * (rank - array.ndim)
    return array.reshape(array.shape[:1] + missing + array.shape[1:])
