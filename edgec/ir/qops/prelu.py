"""Parametric rectifier."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, requantize
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_shift
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QPRelu(IntegerOperator):
    """x [..., C], slope_multiplier int32 const [C].

    ``y = clamp(zy + requantize(x - zx, x >= zx ? multiplier : slope_multiplier[c], shift))``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        slope_multiplier: T = field(metadata=parameter(DType.INT32))

    multiplier: int
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.slope_multiplier == inputs.x[-1:], "one slope per channel is needed")
        return inputs.x

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        x = inputs.x.centred
        multiplier = np.where(x >= 0, self.multiplier, inputs.slope_multiplier.array)
        scaled = requantize(x, multiplier, self.shift)
        return int8_clamped(y_zero_point + scaled, self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max)
        need_shift(self.shift)
