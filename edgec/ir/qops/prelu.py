"""Parametric rectifier."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import Requantization, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QPRelu(IntegerOperator):
    """x [..., C], slope_multiplier int32 const [C].

    ``y = output(x - zx)`` with the multiplier ``x >= zx ? multiplier : slope_multiplier[c]``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        slope_multiplier: T = field(metadata=parameter(DType.INT32))

    output: Requantization
    multiplier: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.slope_multiplier == inputs.x[-1:], "one slope per channel is needed")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.centred
        multiplier = np.where(x >= 0, self.multiplier, inputs.slope_multiplier.array)
        return codes(self.output, x, multiplier)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
