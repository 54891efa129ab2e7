"""Converters of the operators that move codes without computing, and of Resize."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import quantize_array, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator import Operator
from edgec.quant.convert.context import Conversion, Converter


def reshape(c: Conversion) -> None:
    """Reshape to QReshape."""
    c.emit(qops.QReshape(c.node.attrs_as(ops.Reshape).shape), c.node.inputs)


def transpose(c: Conversion) -> None:
    """Transpose to QTranspose."""
    c.emit(qops.QTranspose(c.node.attrs_as(ops.Transpose).perm), c.node.inputs)


def slice_(c: Conversion) -> None:
    """Slice to QSlice."""
    attrs = c.node.attrs_as(ops.Slice)
    c.emit(qops.QSlice(attrs.starts, attrs.steps, attrs.sizes), c.node.inputs)


def concat(c: Conversion) -> None:
    """Concat to QConcat."""
    c.emit(qops.QConcat(c.node.attrs_as(ops.Concat).axis), c.node.inputs)


def pad(c: Conversion) -> None:
    """Pad to QPad."""
    attrs = c.node.attrs_as(ops.Pad)
    code = int(quantize_array(attrs.value, c.y.tensor_scale, c.y.tensor_zero_point))
    c.emit(qops.QPad(attrs.pads, attrs.mode, code), c.node.inputs)


def resize(c: Conversion) -> None:
    """Resize to QResizeNearest or QResizeLinear."""
    attrs = c.node.attrs_as(ops.Resize)
    x = c.node.input
    if attrs.mode is ops.ResizeMode.NEAREST:
        rows, cols = c.int32("rows", attrs.row_low), c.int32("cols", attrs.col_low)
        c.emit(qops.QResizeNearest(), (x, rows, cols))
        return
    rows = c.constant("rows", _positions(attrs.row_low, attrs.row_high, attrs.row_weights))
    cols = c.constant("cols", _positions(attrs.col_low, attrs.col_high, attrs.col_weights))
    c.emit(qops.QResizeLinear(), (x, rows, cols))


def _positions(low: tuple[int, ...], high: tuple[int, ...], weights: tuple[float, ...]) -> Array:
    """(low, high, weight) a line; int32 [O, 3]."""
    fractions = round_half_up(np.asarray(weights) * 2.0**qops.RESIZE_FRACTION_BITS)
    return np.stack([np.asarray(low), np.asarray(high), fractions], axis=1).astype(np.int32)


CONVERTERS: Mapping[type[Operator], Converter] = MappingProxyType(
    {
        ops.Reshape: reshape,
        ops.Transpose: transpose,
        ops.Slice: slice_,
        ops.Concat: concat,
        ops.Pad: pad,
        ops.Resize: resize,
    }
)
