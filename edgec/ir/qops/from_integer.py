"""Codes of integers."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import Requant31, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, value


@dataclass(frozen=True, slots=True)
class QFromInteger(IntegerOperator):
    """x int32: ``y = output(x)`` with one multiplier."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT32))

    output: Requant31
    multiplier: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return codes(self.output, inputs.x.wide, self.multiplier)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
