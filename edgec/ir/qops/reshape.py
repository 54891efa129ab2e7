"""A tensor under another shape."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.length import shortened
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import MOVABLE, Operand, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QReshape(IntegerOperator):
    """x in row-major order with a new shape; never copies (the planner makes it an alias)."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    KEEPS_INTEGERS: ClassVar[bool] = True
    shape: tuple[int, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(math.prod(self.shape) == math.prod(inputs.x), "the number of elements changes")
        return self.shape

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return inputs.x.array.reshape(self.shape)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)

    def shortened(self, axis: int, less: int) -> QReshape:
        return QReshape(shortened(self.shape, axis, less))
