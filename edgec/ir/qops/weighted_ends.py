"""What follows the sums of products of a layer with weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import requantize
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.arithmetic import accumulators, int8_clamped, within32
from edgec.ir.qops.base import need_clamp, need_dtype, need_shift
from edgec.ir.qops.forms import Rescale16x15
from edgec.ir.qops.operands import Operand, numbers, quant_of
from edgec.ir.shapes import need

TABLE_SIZE = 1024
"""Entries of the table of an element function fused into a requantization."""


class Requantized(Protocol):
    """Attributes of a layer that ends in a 31-bit multiplier."""

    @property
    def shift(self) -> int:
        """Of the product."""

    @property
    def y_zero_point(self) -> int:
        """Added after the shift."""

    @property
    def act_min(self) -> int:
        """Lower bound."""

    @property
    def act_max(self) -> int:
        """Upper bound."""


class Narrow(Protocol):
    """Attributes of a layer that ends in `Rescale16x15`."""

    @property
    def output(self) -> Rescale16x15:
        """The form."""

    @property
    def table(self) -> bool:
        """A table follows."""

    @property
    def residual(self) -> bool:
        """A residual is added."""


class NarrowInputs(Protocol):
    """Operands of such a layer."""

    @property
    def bias(self) -> Operand:
        """int32 [O]."""

    @property
    def multiplier(self) -> Operand:
        """int16 [O]."""

    @property
    def residual(self) -> Operand | None:
        """Of the stream."""

    @property
    def table(self) -> Operand | None:
        """int8 [1024]."""


def requantized(attrs: Requantized, total: Array, bias: Array, multiplier: Array) -> Array:
    """clamp(z + requantize(total + bias)), int8."""
    scaled = requantize(accumulators(total + bias), multiplier, attrs.shift)
    return int8_clamped(attrs.y_zero_point + scaled, attrs.act_min, attrs.act_max)


def need_numbers(attrs: Requantized) -> None:
    """Check clamp bounds and shift.

    Raises:
        ValueError: one is out of range.
    """
    need_clamp(attrs.act_min, attrs.act_max)
    need_shift(attrs.shift)


def finished(attrs: Narrow, total: Array, inputs: NarrowInputs) -> Array:
    """What follows the sums: bias, requantization, then table or residual."""
    acc = within32(total) + inputs.bias.array
    if inputs.table is not None:
        index = attrs.output.apply(acc, inputs.multiplier.array)
        return np.asarray(inputs.table.array[index + TABLE_SIZE // 2])
    residual = 0 if inputs.residual is None else inputs.residual.array
    codes = attrs.output.apply(acc, inputs.multiplier.array, residual)
    return codes.astype(attrs.output.dtype.numpy)


def weighted_bounds(
    output: Rescale16x15, weight: Tensor, bias: Tensor, multiplier: Tensor, span: int
) -> dict[str, float]:
    """Bounds of a layer with weights.

    Args:
        output: the form.
        weight: int8 [O, ...].
        bias: int32 [O].
        multiplier: [O].
        span: largest magnitude of what a weight is multiplied with.
    """
    rows = np.abs(numbers(weight).reshape(weight.shape[0], -1)).sum(axis=1)
    acc = float((rows * span + np.abs(numbers(bias))).max())
    return output.bounds(acc, float(np.abs(numbers(multiplier)).max()))


def need_end_shapes(table: Shape | None, residual: Shape | None, y: Shape) -> None:
    """Check the shapes of the table and the residual that follow the multiplier.

    Raises:
        ValueError: one does not fit the output.
    """
    fit = table in (None, (TABLE_SIZE,)) and residual in (None, y)
    need(fit, "table or residual and output differ in shape")


def need_narrow_end(
    attrs: Narrow, table: Tensor | None, residual: Tensor | None, output: Value
) -> None:
    """Check the form, and the table or the residual.

    Raises:
        ValueError: says what is wrong.
    """
    need((table is not None) is attrs.table, "wrong number of inputs: table")
    need((residual is not None) is attrs.residual, "wrong number of inputs: residual")
    need(not (attrs.table and attrs.residual), "a table and a residual")
    if attrs.table:
        attrs.output.verify(-TABLE_SIZE // 2, TABLE_SIZE // 2 - 1)
        need(attrs.output.dtype is DType.INT8, "a table gives int8")
    else:
        attrs.output.verify()
    need_dtype(output, attrs.output.dtype)
    if residual is not None:
        need(residual.dtype is output.dtype, f"the residual is {residual.dtype.value}")
        need_same_scale(residual, output)


def need_same_scale(added: Tensor, output: Value) -> None:
    """Check that what is added to the stream has its scale.

    Raises:
        ValueError: it has another.
    """
    # A constant may have fewer axes.
    axis = None if output.quant is None else output.quant.axis
    same = replace(quant_of(added), axis=axis) == output.quant
    need(same, f"{added.name!r} and the output differ in scale")
