"""A tensor with its axes in another order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import MOVABLE, Operand, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QTranspose(IntegerOperator):
    """y = x.transpose(perm)."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    KEEPS_INTEGERS: ClassVar[bool] = True
    perm: tuple[int, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(sorted(self.perm) == list(range(len(inputs.x))), "perm is not a permutation")
        return tuple(inputs.x[axis] for axis in self.perm)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return inputs.x.array.transpose(self.perm)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)
