"""Product of two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import Requantization, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, quant_of, tensor
from edgec.ir.shapes import broadcast

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QMul(IntegerOperator):
    """a, b int8 with numpy broadcasting (constants are int8 with quant), per tensor.

    ``y = output(bias + (a - za) * (b - zb))`` with one multiplier; the bias is 0 where the form has
    a zero point.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    output: Requantization
    multiplier: int
    bias: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        acc = accumulators(inputs.a.centred * inputs.b.centred) + self.bias
        return codes(self.output, acc, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return self.output.bounds(_DIFFERENCE**2 + abs(self.bias), abs(self.multiplier))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, self.bias, output)
        for item in (inputs.a, inputs.b):
            quant_of(item)
