"""Oracle kernels of the operators that move codes, interpolation included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import rshr
from edgec.interp.operands import Operand
from edgec.ir import qops
from edgec.ir.ops import PadMode

_WEIGHT_ONE = 2048
"""The weight 1.0 of a linear resize; two of them multiplied have 22 fraction bits."""


def reshape(attrs: qops.QReshape, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QReshape`."""
    return inputs[0].array.reshape(attrs.shape)


def transpose(attrs: qops.QTranspose, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QTranspose`."""
    return inputs[0].array.transpose(attrs.perm)


def slice_(attrs: qops.QSlice, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QSlice`: int8 [sizes]."""
    ranges = zip(attrs.starts, attrs.steps, attrs.sizes, strict=True)
    positions = [start + step * np.arange(size) for start, step, size in ranges]
    return np.asarray(inputs[0].array[np.ix_(*positions)])


def concat(attrs: qops.QConcat, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QConcat`."""
    return np.concatenate([operand.array for operand in inputs], axis=attrs.axis)


def pad(attrs: qops.QPad, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QPad`: each axis longer by its (before, after)."""
    x = inputs[0].array
    match attrs.mode:
        case PadMode.CONSTANT:
            return np.pad(x, attrs.pads, constant_values=attrs.value)
        case PadMode.EDGE:
            return np.pad(x, attrs.pads, mode="edge")
        case PadMode.REFLECT:
            return np.pad(x, attrs.pads, mode="reflect")


def resize_nearest(
    attrs: qops.QResizeNearest, inputs: Sequence[Operand], y_zero_point: int
) -> Array:
    """`qops.QResizeNearest`: x int8 [N, H, W, C]; int8 [N, OH, OW, C]."""
    x, rows, cols = (operand.array for operand in inputs)
    return np.asarray(x[:, rows][:, :, cols])


def resize_linear(attrs: qops.QResizeLinear, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QResizeLinear`: x int8 [N, H, W, C]; int8 [N, OH, OW, C]."""
    x, rows, cols = (operand.array.astype(np.int64) for operand in inputs)
    row_low, row_high, row_weight = rows.T
    col_low, col_high, col_weight = cols.T
    row_weight, col_weight = row_weight[:, None, None], col_weight[:, None]

    def blended_columns(image: Array) -> Array:
        low, high = image[:, :, col_low], image[:, :, col_high]
        return np.asarray((_WEIGHT_ONE - col_weight) * low + col_weight * high)

    low, high = blended_columns(x[:, row_low]), blended_columns(x[:, row_high])
    return rshr((_WEIGHT_ONE - row_weight) * low + row_weight * high, 22).astype(np.int8)
