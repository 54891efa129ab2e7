"""Comparison of integers with a number."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.operands import Operand, tensor


@dataclass(frozen=True, slots=True)
class QIsEqual(IntegerOperator):
    """x int32: ``y = 1 if x == value else 0``, int32.

    Makes masks of token ids and of other masks.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT32))

    value: int = 0

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.asarray(inputs.x.array == self.value).astype(np.int32)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, DType.INT32)
