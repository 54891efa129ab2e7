"""Base of the integer operators: their oracle, their bounds and their contract.

Notation of the definitions.  Tensors are int8 unless said otherwise.  ``zx``, ``zy`` are the zero
points in ``graph.values[...].quant``; constants hold everything else.  ``rshr`` and ``requantize``
are those of `edgec.base.fixedpoint`; ``clamp(v) = min(max(v, act_min), act_max)``.  ``>>`` is
arithmetic (floor), ``sat16(v) = min(max(v, -32768), 32767)``; ``bitlen(v)`` is the number of bits
of v >= 0, 0 for 0.  Accumulators are int32; the quantizer guarantees that they do not overflow for
any input, for any order of summation.  Reading outside the image (padding) contributes a real
zero, that is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    SHIFT_MAX,
    SHIFT_MIN,
)
from edgec.ir.graph import Constant, Tensor, Value
from edgec.ir.operator import Operands, Operator
from edgec.ir.qops.operands import Operand, marks_of, quant_of
from edgec.ir.qparams import QuantParams
from edgec.ir.rows import EACH_ROW, RowWindow
from edgec.ir.shapes import need

LIMITS = {DType.INT8: (INT8_MIN, INT8_MAX), DType.INT16: (INT16_MIN, INT16_MAX)}
"""Least and greatest code of a type."""


class IntegerOperator(Operator):
    """An operator whose numbers are final: its class is the definition of edgec's arithmetic.

    The oracle (`compute`, numpy) and the C templates both implement the text of the class, and the
    tests compare them bit for bit.
    """

    __slots__ = ()

    EACH_ELEMENT: ClassVar[bool] = False
    """Whether an element of the output needs the elements of its place, broadcast, alone."""

    def compute(self, inputs: Any) -> Array:
        """The codes of the output, exact: what all generated code is compared with.

        Args:
            inputs: the operands, a record of `Inputs` that holds `Operand`s.

        Raises:
            InternalError: a promise of the quantizer is broken.
        """
        raise InternalError(f"no oracle for {self.op}")

    def compute_outputs(self, inputs: Any) -> tuple[Array, ...]:
        """The codes of all outputs; an operator with one output has `compute` alone.

        Args:
            inputs: the operands, a record of `Inputs` that holds `Operand`s.

        Raises:
            InternalError: a promise of the quantizer is broken.
        """
        return (self.compute(inputs),)

    def bounds(self, inputs: Any) -> dict[str, float]:
        """The largest magnitudes of the intermediates by what they are, whatever the input.

        `quant.transformer.intervals` checks that each stays within 2^31 - 1.  An operator whose
        numbers the quantizer chose by the same bound states none.

        Args:
            inputs: the operands, a record of `Inputs` that holds tensors of the graph.
        """
        return {}

    def row_window(self, inputs: Any) -> RowWindow | None:
        """Rows of x that a row of the output needs; a row of every other operand with rows.

        Args:
            inputs: the operands' shapes, a record of `Inputs`.

        Returns:
            The window; None where the operator does not compute images row by row.
        """
        return EACH_ROW if self.EACH_ELEMENT else None

    def column_window(self, inputs: Any) -> RowWindow | None:
        """Columns of x that a column of the output needs, as `row_window` has it of rows.

        Args:
            inputs: the operands' shapes, a record of `Inputs`.

        Returns:
            The window; None where the operator does not compute images column by column.
        """
        return EACH_ROW if self.EACH_ELEMENT else None

    def without_row_padding(self) -> Self:
        """The operator for rows that have their padding above and below."""
        return self

    def with_column_padding(self, left: int, right: int) -> Self:
        """The operator for some of the columns, with other padding beside them.

        Args:
            left, right: columns of padding.
        """
        return self

    def verify(self, inputs: Any, output: Value) -> None:
        """Check what the operator itself demands beyond the marks of its operands.

        Args:
            inputs: the operands, a record of `Inputs` that holds tensors of the graph.
            output: the output of the node.

        Raises:
            ValueError: says what is wrong.
        """


def computed(attrs: IntegerOperator, operands: Sequence[Operand | None]) -> Array:
    """The only output of an operator whose operands are listed as a node lists them."""
    (output,) = attrs.compute_outputs(attrs.Inputs.of(operands))
    return output


def need_operands(inputs: Operands[Tensor]) -> None:
    """Check operands against the marks of their record.

    Raises:
        ValueError: says what is wrong.
    """
    marks = marks_of(type(inputs))
    for field, item in inputs.items():
        mark = marks[field]
        if mark.constant is not None:
            kind = "constant" if mark.constant else "value"
            need(isinstance(item, Constant) is mark.constant, f"{item.name!r} is no {kind}")
        names = " or ".join(dtype.value for dtype in mark.dtypes)
        need(item.dtype in mark.dtypes, f"{field} {item.name!r} is {item.dtype.value}, not {names}")


def need_clamp(low: int, high: int, least: int = INT8_MIN, greatest: int = INT8_MAX) -> None:
    """Check the bounds of an output.

    Raises:
        ValueError: they are empty, or beyond the type.
    """
    need(least <= low <= high <= greatest, f"bad clamp bounds [{low}, {high}]")


def need_shift(shift: int, least: int = SHIFT_MIN, most: int = SHIFT_MAX) -> None:
    """Check a right shift.

    Raises:
        ValueError: it is out of range.
    """
    need(least <= shift <= most, f"bad shift {shift}")


def need_zero_point(tensor: Tensor, zero_point: int, what: str) -> None:
    """Check the zero point that an operator has for a tensor.

    Raises:
        ValueError: the tensor has another one.
    """
    need(quant_of(tensor).tensor_zero_point == zero_point, f"zero point of {what} differs")


def need_same_codes(inputs: Sequence[Tensor], output: Value) -> None:
    """Check that the operands of an operator that moves codes are quantized as its output is.

    Indices, which are int32 values, are not quantized.

    Raises:
        ValueError: one is not.
    """
    for item in inputs:
        if item.quant is not None or item.dtype != output.dtype or output.dtype is not DType.INT32:
            same = _codes(quant_of(item)) == _codes(quant_of(output))
            need(same, f"{item.name!r} and the output differ in quantization")


def need_same_scale(added: Tensor, output: Value) -> None:
    """Check that what is added to codes of an output has its scale.

    Raises:
        ValueError: it has another.
    """
    # A constant may have fewer axes.
    axis = None if output.quant is None else output.quant.axis
    same = replace(quant_of(added), axis=axis) == output.quant
    need(same, f"{added.name!r} and the output differ in scale")


def need_dtype(output: Tensor, dtype: DType) -> None:
    """Check the element type of an output.

    Raises:
        ValueError: it is another.
    """
    need(output.dtype is dtype, f"the output is {output.dtype.value}")


def _codes(quant: QuantParams) -> tuple[object, ...]:
    """The parameters, those of channels wherever their axis now lies (it is the last)."""
    return quant.scale, quant.zero_point, quant.dtype
