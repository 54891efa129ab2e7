"""Addition of tensors that share one scale."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.layer_end import need_same_scale
from edgec.ir.qops.operands import CODES, Operand, tensor
from edgec.ir.qops.stream import of_stream
from edgec.ir.shapes import broadcast, need


@dataclass(frozen=True, slots=True)
class QStreamAdd(IntegerOperator):
    """a, b of the stream with numpy broadcasting (a constant has a quant), all three of one scale.

    ``y = sat16(a + b)``, or of int8 ``y = min(max(a + b, -127), 127)``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    dtype: DType = DType.INT16

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return of_stream(self.dtype, inputs.a.wide + inputs.b.array)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, self.dtype)
        for item in (inputs.a, inputs.b):
            need(item.dtype is self.dtype, "operands and sum differ in type")
            need_same_scale(item, output)
