"""Products, quotients and squared differences of two tensors, by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import TfliteSumNumbers, accumulators
from edgec.ir.qops.base import LIMITS, IntegerOperator, need_clamp, need_dtype, need_zero_point
from edgec.ir.qops.forms import Requantization, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import CODES, Operand, largest_distance, quant_of, span_of, tensor
from edgec.ir.shapes import broadcast, need


@dataclass(frozen=True, slots=True)
class QMul(IntegerOperator):
    """a, b with numpy broadcasting (a constant has a quant), per tensor.

    ``y = output(bias + (a - za) * (b - zb))`` with one multiplier; the bias is 0 where the form has
    a zero point.
    """

    EACH_ELEMENT: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    output: Requantization
    multiplier: int
    bias: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        acc = accumulators(inputs.a.centred * inputs.b.centred) + self.bias
        return codes(self.output, acc, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        most = span_of(inputs.a) * span_of(inputs.b)
        return self.output.bounds(most + abs(self.bias), abs(self.multiplier))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, self.bias, output)
        for item in (inputs.a, inputs.b):
            quant_of(item)


_FURTHEST = (1 << 16) - 1
"""Steps that leave any type of codes whatever the zero point."""


@dataclass(frozen=True, slots=True)
class QDiv(IntegerOperator):
    """a, b with numpy broadcasting (a constant has a quant), per tensor: rounded once, halves away
    from zero.

    With ``n = |a - za| * multiplier`` and ``d = |b - zb| << right``,
    ``y = clamp(zero_point + sign * min((n * 2**left + d // 2) // d, 65535))``.  The sign is that of
    ``(a - za) * (b - zb)``.  Where b is zero, the quotient is 65535 with the sign of ``a - za``, or
    0 where that is zero, too.

    Bounds: the multiplier is at most 2^22 of int8 operands and below 2^16 of others, the right
    shift at most 22 and 16, the left shift at most 16, and one of them is 0; so 32 bits without a
    sign hold n + d / 2 and, left by `left` bits, the rest of ``n // d``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    multiplier: int
    left: int
    right: int
    zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX
    dtype: DType = DType.INT8

    MOST_LEFT: ClassVar[int] = 16

    @staticmethod
    def bits(a: DType, b: DType) -> int:
        """Most bits of a multiplier of two types, and its longest right shift."""
        return 22 if a is b is DType.INT8 else 16

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        a, b = inputs.a.centred, inputs.b.centred
        dividend, divisor = np.abs(a) * self.multiplier << self.left, np.abs(b) << self.right
        quotient = (dividend + divisor // 2) // np.maximum(divisor, 1)
        steps = np.where(divisor == 0, np.where(a == 0, 0, _FURTHEST), quotient)
        sign = np.where(b < 0, -np.sign(a), np.sign(a))
        total = self.zero_point + np.minimum(steps, _FURTHEST) * sign
        return saturate(total, self.low, self.high).astype(self.dtype.numpy)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        bits = self.bits(inputs.a.dtype, inputs.b.dtype)
        need(0 < self.multiplier <= 1 << bits, "bad multiplier")
        need(0 <= self.right <= bits and 0 <= self.left <= self.MOST_LEFT, "bad shift")
        need(self.left == 0 or self.right == 0, "two shifts")
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_dtype(output, self.dtype)
        need_zero_point(output, self.zero_point, "the output")
        for item in (inputs.a, inputs.b):
            quant_of(item)


@dataclass(frozen=True, slots=True)
class QSquaredDifference(IntegerOperator):
    """a, b with numpy broadcasting (a constant has a quant), per tensor.

    ``y = clamp(zy + twice((A - B)**2, y))`` with A and B in fine steps, of int8 2^-7: see
    `TfliteSumNumbers`.

    Neither factor of the operands exceeds 1/2, so |A - B| <= 255 * 2^7 of int8, with steps of 1
    32768 of int16, and the square is at most 2^30.

    Source: TensorFlow Lite Micro, micro/kernels/squared_difference.cc.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    params: TfliteSumNumbers

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        """Codes of the type of the numbers, broadcast."""
        first, second = self.params.fine_steps(inputs.a.array, inputs.b.array)
        return self.params.codes((first - second) ** 2)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        spans = (float(largest_distance(x.dtype)) for x in (inputs.a, inputs.b))
        return {"the square": sum(self.params.step_bounds(*spans)) ** 2}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        p = self.params
        p.verify()
        p.need_halves()
        need_dtype(output, p.dtype)
        need_zero_point(inputs.a, p.a_zero_point, "a")
        need_zero_point(inputs.b, p.b_zero_point, "b")
        need_zero_point(output, p.y_zero_point, "the output")
