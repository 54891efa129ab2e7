"""The larger or the smaller of two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import broadcast


@dataclass(frozen=True, slots=True)
class QExtremum(IntegerOperator):
    """a, b with numpy broadcasting (constants are int8): the larger code, or else the smaller.

    Operands and output share one quantization.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    largest: bool

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        select = np.maximum if self.largest else np.minimum
        return np.asarray(select(inputs.a.array, inputs.b.array))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.a, inputs.b), output)
