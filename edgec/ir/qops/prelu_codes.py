"""Parametric rectifier whose slopes are codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.qops.twice import Twice31
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QPReluCodes(IntegerOperator):
    """x [..., C], slope int16 const [C]: the slopes' codes less their zero point, within +-255.

    ``y = x >= zx ? output(x - zx) : below((x - zx) * slope[c])`` with a multiplier each, as
    TensorFlow Lite computes it.

    Source: TensorFlow Lite, kernels/internal/reference/prelu.h (BroadcastPrelu4DSlow).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        slope: T = field(metadata=parameter(DType.INT16))

    output: Twice31
    below: Twice31
    multiplier: int
    below_multiplier: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.slope == inputs.x[-1:], "one slope per channel is needed")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.centred
        above = self.output.apply(np.maximum(x, 0), self.multiplier)
        below = self.below.apply(np.minimum(x, 0) * inputs.slope.wide, self.below_multiplier)
        return np.where(x >= 0, above, below).astype(np.int8)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
        need_single(self.below, self.below_multiplier, 0, output)
