"""Addition of two tensors with scales of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, rshr
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, half_step, int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_shift, need_zero_point
from edgec.ir.qops.fine import FineNumbers
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import broadcast

_SPAN = 255
"""Bound of |q - zero point| of int8 codes."""
_FINE_BITS = 20


@dataclass(frozen=True, slots=True)
class AddParams:
    """The integer addition, alone (`QAdd`) or at the end of a convolution.

    ``y = clamp(zy + rshr((a - a_zero_point) * a_multiplier + (b - b_zero_point) * b_multiplier,
    shift))``.  All of it fits int32: ``255 * (|a_multiplier| + |b_multiplier|) + 2**(shift-1) <
    2**31``.  A subtraction has a negative b_multiplier.
    """

    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    b_multiplier: int
    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def apply(self, a: Array, b: Array) -> Array:
        """The sum of two int8 arrays, broadcast; int8."""
        a_term = (a.astype(np.int64) - self.a_zero_point) * self.a_multiplier
        b_term = (b.astype(np.int64) - self.b_zero_point) * self.b_multiplier
        scaled = rshr(accumulators(a_term + b_term), self.shift)
        return int8_clamped(self.y_zero_point + scaled, self.act_min, self.act_max)

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_clamp(self.act_min, self.act_max)
        need_shift(self.shift)


@dataclass(frozen=True, slots=True)
class Add20(FineNumbers):
    """TensorFlow Lite's integer addition or subtraction, in steps of 2^-20 of the larger scale.

    ``y = clamp(zy + twice(A +- B, y))`` with A and B in steps of 2^-20: see `FineNumbers`.  |A| and
    |B| are at most 255 * 2^20, and where neither factor exceeds 1/2, as TensorFlow Lite has it,
    their sum is as small.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops/add.h (AddFunc).
    """

    subtracts: bool = False

    def apply(self, a: Array, b: Array) -> Array:
        """The sum or difference of two int8 arrays, broadcast; int8."""
        first, second = self.fine_steps(a, b, _FINE_BITS)
        return self.codes(first - second if self.subtracts else first + second)


@dataclass(frozen=True, slots=True)
class QAdd(IntegerOperator):
    """a, b with numpy broadcasting (constants are int8 with quant): see `AddParams`, `Add20`.

    Also subtraction.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    params: AddParams | Add20

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        """int8, broadcast."""
        return self.params.apply(inputs.a.array, inputs.b.array)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        if isinstance(self.params, Add20):
            return {"the sum": float(2 * _SPAN * 2**_FINE_BITS)}
        factors = abs(self.params.a_multiplier) + abs(self.params.b_multiplier)
        return {"the sum": float(_SPAN * factors + half_step(self.params.shift))}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.params.verify()
        need_zero_point(inputs.a, self.params.a_zero_point, "a")
        need_zero_point(inputs.b, self.params.b_zero_point, "b")
        need_zero_point(output, self.params.y_zero_point, "the output")
