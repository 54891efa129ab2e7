"""Softmax by a table of exponentials and one division an element."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, requantize
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_shift, need_zero_point
from edgec.ir.qops.lut import LUT_SIZE
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QSoftmax(IntegerOperator):
    """x [..., N], table int32 const [256]; over the last axis.

    ``E[i] = table[max(x) - x[i]]`` with ``table[d] = round(2**k * exp(-scale_x * d))`` and k such
    that the sum of N entries stays below 2^31; ``D = max(requantize(sum E, multiplier, shift), 1)``
    (the sum in output steps); ``y[i] = min(max(zero_point + (E[i] + D // 2) // D, low),
    high)``, unsigned 32-bit division.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        table: T = field(metadata=parameter(DType.INT32))

    multiplier: int
    shift: int
    zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (LUT_SIZE,), "a table has 256 entries")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        exponentials = inputs.table.wide[x.max(axis=-1, keepdims=True) - x]
        total = accumulators(exponentials.sum(axis=-1, keepdims=True))
        divisor = np.maximum(requantize(total, self.multiplier, self.shift), 1)
        quotient = (exponentials + divisor // 2) // divisor
        return int8_clamped(self.zero_point + quotient, self.low, self.high)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.low, self.high)
        need_shift(self.shift)
        need_zero_point(output, self.zero_point, "the output")
