"""Addition and subtraction of two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, rshr, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import TfliteSumNumbers, accumulators, half_step
from edgec.ir.qops.base import (
    LIMITS,
    IntegerOperator,
    need_clamp,
    need_dtype,
    need_same_scale,
    need_shift,
    need_zero_point,
)
from edgec.ir.qops.operands import CODES, Operand, largest_distance, tensor
from edgec.ir.qops.residual import STREAM_LIMITS
from edgec.ir.shapes import broadcast, need


@dataclass(frozen=True, slots=True)
class AddParams:
    """The integer addition with one rounding, alone (`QAdd`) or at the end of a convolution.

    ``y = clamp(zy + rshr((a - a_zero_point) * a_multiplier + (b - b_zero_point) * b_multiplier,
    shift))``.  All of it fits int32: ``A * |a_multiplier| + B * |b_multiplier| + 2**(shift-1) <
    2**31`` with A and B the bounds of |code - zero point|, 255 of int8 and 32768 of int16.  A
    subtraction has a negative b_multiplier.
    """

    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    b_multiplier: int
    shift: int
    y_zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX
    dtype: DType = field(default=DType.INT8, metadata=LATER)

    def apply(self, a: Array, b: Array) -> Array:
        """The sum of two arrays of codes, broadcast; of `dtype`."""
        a_term = (a.astype(np.int64) - self.a_zero_point) * self.a_multiplier
        b_term = (b.astype(np.int64) - self.b_zero_point) * self.b_multiplier
        scaled = self.y_zero_point + rshr(accumulators(a_term + b_term), self.shift)
        return saturate(scaled, self.low, self.high).astype(self.dtype.numpy)

    def bounds(self, a: float, b: float) -> dict[str, float]:
        """Bounds of the intermediates from the largest |code - zero point| of a and b."""
        total = a * abs(self.a_multiplier) + b * abs(self.b_multiplier)
        return {"the sum": total + half_step(self.shift)}

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_shift(self.shift)


@dataclass(frozen=True, slots=True)
class TfliteSum(TfliteSumNumbers):
    """TensorFlow Lite's integer addition or subtraction, in fine steps of the larger scale.

    ``y = clamp(zy + twice(A +- B, y))`` with A and B in steps of 2^-20, or of 2^-15 where an
    operand is int16: see `TfliteSumNumbers`.  The sum lies in [-2^30, 2^30), since |A| and |B| are
    at most 255 * 2^20, or neither factor exceeds 1/2, as TensorFlow Lite has it.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops/add.h (AddFunc) and
    kernels/internal/reference/add.h (AddElementwise).
    """

    subtracts: bool = False

    def apply(self, a: Array, b: Array) -> Array:
        """The sum or difference of two arrays of codes, broadcast; of `dtype`."""
        first, second = self.fine_steps(a, b)
        return self.codes(first - second if self.subtracts else first + second)

    def bounds(self, a: float, b: float) -> dict[str, float]:
        """As `AddParams.bounds`."""
        return {"the sum": sum(self.step_bounds(a, b))}


@dataclass(frozen=True, slots=True)
class CodeSum:
    """The sum of codes, saturated: operands and sum have one scale and the zero point 0.

    ``y = min(max(a + b, low), high)``: residual additions of a transformer (`stream`).
    """

    low: int
    high: int
    dtype: DType

    @classmethod
    def of_stream(cls, dtype: DType) -> Self:
        """The sum of a stream of a type."""
        return cls(*STREAM_LIMITS[dtype], dtype)

    def apply(self, a: Array, b: Array) -> Array:
        """The sum of two arrays of codes, broadcast; of `dtype`."""
        total = a.astype(np.int64) + b
        return saturate(total, self.low, self.high).astype(self.dtype.numpy)

    def bounds(self, a: float, b: float) -> dict[str, float]:
        """As `AddParams.bounds`."""
        return {"the sum": a + b}

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_clamp(self.low, self.high, *LIMITS[self.dtype])


SumForm = AddParams | TfliteSum | CodeSum
"""The ways in which two codes become the code of their sum."""


@dataclass(frozen=True, slots=True)
class QAdd(IntegerOperator):
    """a, b with numpy broadcasting (a constant has a quant): the form has the definition.

    Also subtraction.
    """

    EACH_ELEMENT: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    form: SumForm

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        """Codes of the form's type, broadcast."""
        return self.form.apply(inputs.a.array, inputs.b.array)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return self.form.bounds(*(float(largest_distance(x.dtype)) for x in (inputs.a, inputs.b)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.form.verify()
        need_dtype(output, self.form.dtype)
        if isinstance(self.form, CodeSum):
            for item in (inputs.a, inputs.b):
                need(item.dtype is output.dtype, "operands and sum differ in type")
                need_same_scale(item, output)
            return
        if isinstance(self.form, TfliteSum) and DType.INT16 in (inputs.a.dtype, inputs.b.dtype):
            self.form.need_halves()
        need_zero_point(inputs.a, self.form.a_zero_point, "a")
        need_zero_point(inputs.b, self.form.b_zero_point, "b")
        need_zero_point(output, self.form.y_zero_point, "the output")
