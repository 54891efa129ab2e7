"""An image of another size."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import rshr
from edgec.base.tflite_arithmetic import rshr_away
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import CODES, Operand, parameter, value
from edgec.ir.rows import ROWS, RowWindow
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QResizeNearest(IntegerOperator):
    """x int8 or int16 [N, H, W, C], rows int32 const [OH], cols int32 const [OW].

    ``y[i, j] = x[rows[i], cols[j]]``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        rows: T = field(metadata=parameter(DType.INT32))
        cols: T = field(metadata=parameter(DType.INT32))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return resized_shape(inputs.x, inputs.rows, inputs.cols)

    def row_window(self, inputs: Inputs[Shape]) -> RowWindow | None:
        # Whether the table names every row as often is for who has its numbers (`repeats`).
        repeat, rest = divmod(inputs.rows[0], inputs.x[ROWS])
        return RowWindow(repeat=repeat) if repeat and not rest else None

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, rows, cols = inputs.x.array, inputs.rows.array, inputs.cols.array
        return np.asarray(x[:, rows][:, :, cols])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)


def repeats(table: Array, repeat: int) -> bool:
    """Whether a table names each row, from the first on, as often as the others.

    Args:
        table: int32 [OH], numbers of rows.
        repeat: how often, 1 or more.
    """
    return np.array_equal(table, np.arange(len(table)) // repeat)


def resized_shape(x: Shape, rows: Shape, cols: Shape) -> Shape:
    """Output [N, OH, OW, C] of a resize with one entry of `rows` and `cols` a position."""
    need(len(x) == 4, "x must have four dimensions")
    return (x[0], rows[0], cols[0], x[3])


RESIZE_FRACTION_BITS = 11
"""Fraction bits of a weight."""
_ONE = 1 << RESIZE_FRACTION_BITS


@dataclass(frozen=True, slots=True)
class QResizeLinear(IntegerOperator):
    """x [N, H, W, C], rows int32 const [OH, 3], cols int32 const [OW, 3], each (low, high, weight).

    Weights are in [0, 2048] (11 fraction bits):
    ``y = rshr((2048-wr)*((2048-wc)*x[rl,cl] + wc*x[rl,ch]) + wr*((2048-wc)*x[rh,cl] + wc*x[rh,ch]),
    22)``; same quantization on both sides.  With `half_away`, halves are rounded away from zero
    (`edgec.base.tflite_arithmetic.rshr_away`), as TensorFlow Lite's integer kernel does.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        rows: T = field(metadata=parameter(DType.INT32))
        cols: T = field(metadata=parameter(DType.INT32))

    half_away: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return resized_shape(inputs.x, inputs.rows, inputs.cols)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        row_low, row_high, row_weight = inputs.rows.wide.T
        col_low, col_high, col_weight = inputs.cols.wide.T
        row_weight, col_weight = row_weight[:, None, None], col_weight[:, None]

        def blended_columns(image: Array) -> Array:
            low, high = image[:, :, col_low], image[:, :, col_high]
            return np.asarray((_ONE - col_weight) * low + col_weight * high)

        low, high = blended_columns(x[:, row_low]), blended_columns(x[:, row_high])
        total = (_ONE - row_weight) * low + row_weight * high
        shifted = rshr_away if self.half_away else rshr
        return shifted(total, 2 * RESIZE_FRACTION_BITS).astype(np.int8)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)
