"""Converter of Resize, by the rules of TensorFlow Lite Micro."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.convert import move
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()
_UNIT = 1 << 10
"""Positions of the integer kernel are in steps of 2^-10."""
_WAYS = ((False, False), (False, True), (True, False))
"""Whether corners are aligned, and whether centres of pixels are half a pixel from the edge."""
_TOLERANCE = 1e-4
"""Tolerance of a position, which is computed in float32."""


@CONVERTERS.entry(ops.Resize)
def resize(c: Conversion) -> None:
    """Linear Resize to QResizeLinear with positions in 10 bits, halves away from zero."""
    attrs, shape = c.node.attrs_as(ops.Resize), c.graph.shape(c.node.input)
    rows = _lines(shape[1], attrs.row_low, attrs.row_high, attrs.row_weights)
    cols = _lines(shape[2], attrs.col_low, attrs.col_high, attrs.col_weights)
    if attrs.mode is ops.ResizeMode.NEAREST or rows is None or cols is None:
        move.resize(c)
        return
    operands = c.operand(c.node.input).name, c.constant("rows", rows), c.constant("cols", cols)
    c.emit(qops.QResizeLinear(half_away=True), qops.QResizeLinear.Inputs(*operands))


def _lines(
    size: int, low: tuple[int, ...], high: tuple[int, ...], weights: tuple[float, ...]
) -> Array | None:
    """(low, high, weight) a line in integers; int32 [O, 3].  None: positions of another runtime.

    Source: TensorFlow Lite, kernels/internal/reference/resize_bilinear.h (ResizeBilinearInteger).
    """
    given = np.asarray(low) + np.asarray(weights) * (np.asarray(high) - np.asarray(low))
    for align, half in _WAYS:
        if np.all(np.abs(_real(size, len(low), align, half) - given) <= _TOLERANCE):
            return _resolved(_scaled(size, len(low), align, half), size)
    return None


def _sizes(size: int, out: int, align: bool) -> tuple[int, int]:
    """Numerator and denominator of the input cells for an output cell."""
    return (size - 1, out - 1) if align and out > 1 else (size, out)


def _real(size: int, out: int, align: bool, half: bool) -> Array:
    """Where output cells lie among the input cells."""
    whole, parts = _sizes(size, out, align)
    shift = 0.5 if half else 0.0
    return np.asarray(np.clip((np.arange(out) + shift) * (whole / parts) - shift, 0.0, size - 1.0))


def _scaled(size: int, out: int, align: bool, half: bool) -> Array:
    """Positions of output cells among the input cells, in steps of 2^-10; int64 [O]."""
    whole, parts = _sizes(size, out, align)
    step = (_UNIT * whole + parts // 2) // parts
    start = step // 2 - _UNIT // 2 if half else 0
    return np.arange(out, dtype=np.int64) * step + start


def _resolved(position: Array, size: int) -> Array:
    within = np.clip(position, 0, (size - 1) * _UNIT)
    low = within // _UNIT
    fraction = (within - low * _UNIT) << (qops.RESIZE_FRACTION_BITS - 10)
    return np.stack([low, np.minimum(low + 1, size - 1), fraction], axis=1).astype(np.int32)
