"""Squares of the differences of two tensors with scales of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_zero_point
from edgec.ir.qops.fine import FineNumbers
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import broadcast, need

_FINE_BITS = 7
"""Fraction bits of the operands: the square of their difference then fits int32."""


@dataclass(frozen=True, slots=True)
class QSquaredDifference(IntegerOperator):
    """a, b with numpy broadcasting (constants are int8 with quant), per tensor.

    ``y = clamp(zy + twice((A - B)**2, y))`` with A and B in steps of 2^-7: see `FineNumbers`.

    Neither factor of the operands exceeds 1/2, so |A - B| <= 255 * 2^7 and the square is below
    2^30.

    Source: TensorFlow Lite Micro, micro/kernels/squared_difference.cc.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    params: FineNumbers

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        """int8, broadcast."""
        first, second = self.params.fine_steps(inputs.a.array, inputs.b.array, _FINE_BITS)
        return self.params.codes((first - second) ** 2)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return {"the square": float((255 << _FINE_BITS) ** 2)}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        p = self.params
        p.verify()
        for right, multiplier in ((p.a_right, p.a_multiplier), (p.b_right, p.b_multiplier)):
            need(multiplier <= 1 << (30 + right), "a factor above 1/2")
        need_zero_point(inputs.a, p.a_zero_point, "a")
        need_zero_point(inputs.b, p.b_zero_point, "b")
        need_zero_point(output, p.y_zero_point, "the output")
