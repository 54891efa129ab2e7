"""The end of a layer: its form of requantization, then a table or a residual.

The accumulator is a layer's own; how it ends is one of these:

* plain: ``y = output(acc)``; `TwoRoundings31`, `Offset31` and `Once15` know no other end.
* table: the form is `Rescale16x15` with low = -512, high = 511; ``y = table[output(acc) + 512]``.
* `AddParams` residual: the form is `Requant31`, its output t = output(acc); y is the sum of a = t
  and b = residual, exactly a layer followed by a `QAdd`, without the tensor between them.  (So the
  zero point of the form is that of t, not of y.)
* `StreamSum` residual: the form is `Rescale16x15`, whose output has the scale of the residual;
  ``y = min(max(rshr(a * multiplier, shift) + residual, low), high)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.add import AddParams
from edgec.ir.qops.base import need_dtype, need_same_scale, need_zero_point
from edgec.ir.qops.forms import Requant31, Requantization, Rescale16x15
from edgec.ir.qops.operands import Operand, numbers
from edgec.ir.qops.tflite_forms import Offset31, Once15, TwoRoundings31
from edgec.ir.shapes import need

TABLE_SIZE = 1024
"""Entries of the table of an element function fused into a requantization."""
_TABLE_LIMITS = (-TABLE_SIZE // 2, TABLE_SIZE // 2 - 1)


@dataclass(frozen=True, slots=True)
class StreamSum:
    """A residual that has the scale of the layer's output: it is added before the bounds."""


Residual = AddParams | StreamSum


class Layer(Protocol):
    """Attributes of a layer with weights."""

    @property
    def output(self) -> Requantization:
        """The form."""

    @property
    def residual(self) -> Residual | None:
        """Form of the residual addition; None: there is none."""


class Ends(Protocol):
    """The operands after the sums, codes or numbers."""

    @property
    def b(self) -> Operand:
        """int32 [O]."""

    @property
    def multiplier(self) -> Operand:
        """The multiplier of each output channel: [O]."""

    @property
    def residual(self) -> Operand | None:
        """Residual tensor that is added, in the shape of the output."""

    @property
    def table(self) -> Operand | None:
        """int8 [1024]."""


def finished(layer: Layer, total: Array, inputs: Ends) -> Array:
    """The output of a layer from its sums of products [..., O], whole numbers."""
    acc, multiplier = total.astype(np.int64) + inputs.b.array, inputs.multiplier.array
    output = layer.output
    if inputs.table is not None:
        return np.asarray(inputs.table.array[output.apply(acc, multiplier) + TABLE_SIZE // 2])
    if inputs.residual is None:
        return output.apply(acc, multiplier).astype(output.dtype.numpy)
    match layer.residual, output:
        case AddParams() as addition, Requant31():
            return addition.apply(output.apply(acc, multiplier), inputs.residual.array)
        case StreamSum(), Rescale16x15():
            y = output.apply(acc, multiplier, inputs.residual.array)
            return y.astype(output.dtype.numpy)
        case _:
            raise InternalError("a residual that the layer's form cannot add")


def weighted_bounds(
    output: Requantization, weight: Tensor, bias: Tensor, multiplier: Tensor, span: int
) -> dict[str, float]:
    """Bounds of a layer with weights.

    Args:
        output: the form.
        weight: int8 [O, ...].
        bias: int32 [O].
        multiplier: [O].
        span: largest magnitude of what a weight is multiplied with.
    """
    acc = largest_sum(weight, bias, span)
    return output.bounds(acc, float(np.abs(numbers(multiplier)).max()))


def largest_sum(weight: Tensor, bias: Tensor, span: int) -> float:
    """The largest magnitude of an accumulator, whatever the input and the order of its terms."""
    rows = np.abs(numbers(weight).reshape(weight.shape[0], -1)).sum(axis=1)
    return float((rows * span + np.abs(numbers(bias))).max())


def need_end_shapes(table: Shape | None, residual: Shape | None, y: Shape) -> None:
    """Check the shapes of the table and the residual.

    Raises:
        ValueError: one does not fit the output.
    """
    fit = table in (None, (TABLE_SIZE,)) and residual in (None, y)
    need(fit, "table or residual and output differ in shape")


def need_form(form: Requantization, multiplier: Tensor, output: Value) -> None:
    """Check a form that is the end of a layer, and the multipliers of the output channels.

    Raises:
        ValueError: says what is wrong.
    """
    form.verify()
    _need_multipliers(form, multiplier)
    _need_channels(form, multiplier)
    need_dtype(output, form.dtype)
    if isinstance(form, Requant31 | TwoRoundings31):
        need_zero_point(output, form.zero_point, "the output")


def need_end(
    layer: Layer,
    multiplier: Tensor,
    output: Value,
    residual: Tensor | None,
    table: Tensor | None,
) -> None:
    """Check the form of a layer, and its table or its residual.

    Raises:
        ValueError: says what is wrong.
    """
    form = layer.output
    need((residual is None) is (layer.residual is None), "wrong number of inputs: residual")
    need(table is None or residual is None, "a table and a residual")
    if table is not None:
        _need_multipliers(form, multiplier)
        _need_table(form)
        need_dtype(output, form.dtype)
    elif residual is not None:
        form.verify()
        _need_multipliers(form, multiplier)
        need_dtype(output, form.dtype)
        _need_residual(layer, residual, output)
    else:
        need_form(form, multiplier, output)


def _need_multipliers(form: Requantization, multiplier: Tensor) -> None:
    found, wanted = multiplier.dtype, form.MULTIPLIERS
    what = f"multiplier {multiplier.name!r} is {found.value}, not {wanted.value}"
    need(found is wanted, what)


def _need_channels(form: Requantization, multiplier: Tensor) -> None:
    match form:
        case TwoRoundings31(shifts=numbers) | Offset31(offsets=numbers) | Once15(shifts=numbers):
            need(len(numbers) in (1, *multiplier.shape), "the form is one of other channels")


def _need_table(form: Requantization) -> None:
    if not isinstance(form, Rescale16x15):
        raise ValueError("a table follows 16 by 15 bits only")
    form.verify(*_TABLE_LIMITS)
    need(form.dtype is DType.INT8, "a table gives int8")


def _need_residual(layer: Layer, residual: Tensor, output: Value) -> None:
    match layer.residual, layer.output:
        case AddParams() as addition, Requant31(zero_point=zero_point, dtype=DType.INT8):
            addition.verify()
            need(residual.dtype is DType.INT8, f"the residual is {residual.dtype.value}")
            need(addition.a_zero_point == zero_point, "zero point of t differs")
            need_zero_point(residual, addition.b_zero_point, "the residual")
            need_zero_point(output, addition.y_zero_point, "the output")
        case StreamSum(), Rescale16x15(dtype=dtype):
            need(residual.dtype is dtype, f"the residual is {residual.dtype.value}")
            need_same_scale(residual, output)
        case _:
            need(False, "a residual that the layer's form cannot add")


def need_single(output: Requantization, multiplier: int, bias: int, value: Value) -> None:
    """Check the form of an operator with one multiplier and one bias.

    Raises:
        ValueError: says what is wrong.
    """
    output.verify()
    need(abs(multiplier) <= output.LARGEST_MULTIPLIER, f"bad multiplier {multiplier}")
    need_dtype(value, output.dtype)
    if isinstance(output, Requant31 | TwoRoundings31):
        need(bias == 0, "a bias where the form has the zero point")
        need_zero_point(value, output.zero_point, "the output")
