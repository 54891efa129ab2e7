"""Values of real operators on constants.

Only operators that exporters leave on constants: data movement, arithmetic and clipping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops


def evaluate(attrs: Any, arrays: Sequence[Array | None]) -> Array | None:
    """Output of an operator on constant inputs, or None when it is not evaluated here.

    Args:
        attrs: a class of `ir.ops`.
        arrays: float32, one per input; None for an absent one.
    """
    given = [array for array in arrays if array is not None]
    if len(given) != len(arrays):
        return None
    moved = _moved(attrs, given)
    return moved if moved is not None else _computed(attrs, given)


def _moved(attrs: Any, arrays: Sequence[Array]) -> Array | None:
    x = arrays[0]
    match attrs:
        case ops.Reshape():
            return x.reshape(attrs.shape)
        case ops.Transpose():
            return np.transpose(x, attrs.perm)
        case ops.Slice():
            return x[_slices(attrs)]
        case ops.Concat():
            return np.concatenate(arrays, axis=attrs.axis)
        case ops.Pad() if attrs.mode is ops.PadMode.CONSTANT:
            return np.pad(x, attrs.pads, constant_values=attrs.value)
        case ops.Unary() if attrs.kind is ops.UnaryKind.IDENTITY:
            return x
        case _:
            return None


def _slices(attrs: ops.Slice) -> tuple[Array, ...]:
    """Open mesh of indices: also right for negative steps."""
    return np.ix_(
        *(
            start + step * np.arange(size)
            for start, step, size in zip(attrs.starts, attrs.steps, attrs.sizes, strict=True)
        )
    )


def _computed(attrs: Any, arrays: Sequence[Array]) -> Array | None:
    match attrs:
        case ops.Add():
            return np.asarray(arrays[0] + arrays[1])
        case ops.Sub():
            return np.asarray(arrays[0] - arrays[1])
        case ops.Mul():
            return np.asarray(arrays[0] * arrays[1])
        case ops.Clip():
            return np.clip(arrays[0], attrs.low, attrs.high)
        case _:
            return None
