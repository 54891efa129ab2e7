"""A moving average that gives its new value, and how far the input is from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, saturate
from edgec.ir import qops
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import need_same_codes
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QTrend(qops.IntegerOperator):
    """x, average int8 with one scale and zero point z.

    ``new = (3 * average + x + 2) >> 2`` and ``distance = saturate(x - new + z)``, int8 both.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        average: T = field(metadata=tensor(DType.INT8))

    zero_point: int

    def infer_shapes(self, inputs: Inputs[Shape]) -> tuple[Shape, ...]:
        need(inputs.x == inputs.average, "shapes differ")
        return inputs.x, inputs.x

    def compute_outputs(self, inputs: Inputs[Operand]) -> tuple[Array, ...]:
        new = (3 * inputs.average.wide + inputs.x.wide + 2) >> 2
        distance = saturate(inputs.x.wide - new + self.zero_point, INT8_MIN, INT8_MAX)
        return distance.astype(np.int8), new.astype(np.int8)

    def verify_outputs(self, inputs: Inputs[Tensor], outputs: tuple[Value, ...]) -> None:
        for output in outputs:
            need_same_codes((inputs.x, inputs.average), output)
