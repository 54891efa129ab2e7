"""Converters of the operators that move codes without computing, and of Resize."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import quantize_array, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Reshape)
def reshape(c: Conversion) -> None:
    """Reshape to QReshape."""
    x = c.operand(c.node.input)
    c.emit(qops.QReshape(c.node.attrs_as(ops.Reshape).shape), qops.QReshape.Inputs(x.name))


@CONVERTERS.entry(ops.Transpose)
def transpose(c: Conversion) -> None:
    """Transpose to QTranspose."""
    x = c.operand(c.node.input)
    perm = c.node.attrs_as(ops.Transpose).perm
    c.emit(qops.QTranspose(perm), qops.QTranspose.Inputs(x.name))


@CONVERTERS.entry(ops.Slice)
def slice_(c: Conversion) -> None:
    """Slice to QSlice."""
    attrs = c.node.attrs_as(ops.Slice)
    integer = qops.QSlice(attrs.starts, attrs.steps, attrs.sizes)
    c.emit(integer, qops.QSlice.Inputs(c.operand(c.node.input).name))


@CONVERTERS.entry(ops.Concat)
def concat(c: Conversion) -> None:
    """Concat to QConcat."""
    attrs = c.node.attrs_as(ops.Concat)
    parts = tuple(c.operand(name).name for name in attrs.Inputs.of(c.node.inputs).parts)
    c.emit(qops.QConcat(attrs.axis), qops.QConcat.Inputs(parts))


@CONVERTERS.entry(ops.Pad)
def pad(c: Conversion) -> None:
    """Pad to QPad."""
    attrs = c.node.attrs_as(ops.Pad)
    code = int(quantize_array(attrs.value, c.y.tensor_scale, c.y.tensor_zero_point))
    x = c.operand(c.node.input)
    c.emit(qops.QPad(attrs.pads, attrs.mode, code), qops.QPad.Inputs(x.name))


@CONVERTERS.entry(ops.Resize)
def resize(c: Conversion) -> None:
    """Resize to QResizeNearest or QResizeLinear."""
    attrs = c.node.attrs_as(ops.Resize)
    x = c.operand(c.node.input).name
    if attrs.mode is ops.ResizeMode.NEAREST:
        rows, cols = c.int32("rows", attrs.row_low), c.int32("cols", attrs.col_low)
        c.emit(qops.QResizeNearest(), qops.QResizeNearest.Inputs(x, rows, cols))
        return
    rows = c.constant("rows", _positions(attrs.row_low, attrs.row_high, attrs.row_weights))
    cols = c.constant("cols", _positions(attrs.col_low, attrs.col_high, attrs.col_weights))
    c.emit(qops.QResizeLinear(), qops.QResizeLinear.Inputs(x, rows, cols))


def _positions(low: tuple[int, ...], high: tuple[int, ...], weights: tuple[float, ...]) -> Array:
    """(low, high, weight) a line; int32 [O, 3]."""
    fractions = round_half_up(np.asarray(weights) * 2.0**qops.RESIZE_FRACTION_BITS)
    return np.stack([np.asarray(low), np.asarray(high), fractions], axis=1).astype(np.int32)


@CONVERTERS.entry(ops.TurnSlice)
def turn_slice(c: Conversion) -> None:
    """TurnSlice to QTurnSlice."""
    attrs = c.node.attrs_as(ops.TurnSlice)
    integer = qops.QTurnSlice(attrs.loop, attrs.part)
    c.emit(integer, qops.QTurnSlice.Inputs(c.operand(c.node.first).name))


@CONVERTERS.entry(ops.TurnStack)
def turn_stack(c: Conversion) -> None:
    """TurnStack to QTurnStack."""
    attrs = c.node.attrs_as(ops.TurnStack)
    integer = qops.QTurnStack(attrs.loop, attrs.part)
    c.emit(integer, qops.QTurnStack.Inputs(c.operand(c.node.first).name))


@CONVERTERS.entry(ops.TurnLast)
def turn_last(c: Conversion) -> None:
    """TurnLast to QTurnLast."""
    integer = qops.QTurnLast(c.node.attrs_as(ops.TurnLast).loop)
    c.emit(integer, qops.QTurnLast.Inputs(c.operand(c.node.first).name))


@CONVERTERS.entry(ops.Carry)
def carry(c: Conversion) -> None:
    """Carry to QCarry."""
    integer = qops.QCarry(c.node.attrs_as(ops.Carry).loop)
    c.emit(integer, qops.QCarry.Inputs(c.operand(c.node.first).name))


@CONVERTERS.entry(ops.Update)
def update(c: Conversion) -> None:
    """Update to QUpdate."""
    real = ops.Update.Inputs.of(c.node.inputs)
    inputs = qops.QUpdate.Inputs(c.operand(real.x).name, c.operand(real.carry).name)
    c.emit(qops.QUpdate(), inputs)
