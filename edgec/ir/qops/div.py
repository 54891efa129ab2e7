"""Quotient of two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_zero_point
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import broadcast, need

DIV_BITS = 22
"""Most bits of a multiplier of a division, and its longest shift."""
_FURTHEST = 255
"""Steps that leave int8 whatever the zero point."""


@dataclass(frozen=True, slots=True)
class QDiv(IntegerOperator):
    """a, b int8 with numpy broadcasting (constants are int8 with quant), per tensor.

    With ``n = |a - za| * multiplier`` and ``d = |b - zb| << shift``, unsigned 32-bit numbers,
    ``y = clamp(zero_point + sign * min((n + d // 2) // d, 255))``: one rounding, halves away from
    zero.  The sign is that of ``(a - za) * (b - zb)``.  Where b is zero, the quotient is 255 with
    the sign of ``a - za``, or 0 where that is zero, too.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    multiplier: int
    shift: int
    zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        a, b = inputs.a.centred, inputs.b.centred
        dividend, divisor = np.abs(a) * self.multiplier, np.abs(b) << self.shift
        quotient = (dividend + divisor // 2) // np.maximum(divisor, 1)
        steps = np.where(divisor == 0, np.where(a == 0, 0, _FURTHEST), quotient)
        sign = np.where(b < 0, -np.sign(a), np.sign(a))
        steps = np.minimum(steps, _FURTHEST) * sign
        return int8_clamped(self.zero_point + steps, self.low, self.high)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.low, self.high)
        need(0 < self.multiplier <= 1 << DIV_BITS, "bad multiplier")
        need(0 <= self.shift <= DIV_BITS, "bad shift")
        need_zero_point(output, self.zero_point, "the output")
