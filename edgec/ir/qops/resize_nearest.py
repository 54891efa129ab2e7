"""An image of another size, by the nearest pixel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import CODES, Operand, parameter, value
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

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, rows, cols = inputs.x.array, inputs.rows.array, inputs.cols.array
        return np.asarray(x[:, rows][:, :, cols])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)


def resized_shape(x: Shape, rows: Shape, cols: Shape) -> Shape:
    """Output [N, OH, OW, C] of a resize with one entry of `rows` and `cols` a position."""
    need(len(x) == 4, "x must have four dimensions")
    return (x[0], rows[0], cols[0], x[3])
