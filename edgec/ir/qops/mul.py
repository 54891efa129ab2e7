"""Product of two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, requantize
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import int8_clamped, within32
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_dtype, need_shift
from edgec.ir.qops.forms import Rescale16x15, need_multiplier
from edgec.ir.qops.operands import CODES, Operand, quant_of, tensor
from edgec.ir.shapes import broadcast

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QMul(IntegerOperator):
    """a, b with numpy broadcasting (constants are int8 with quant).

    ``y = clamp(zy + requantize((a - za) * (b - zb), multiplier, shift))``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    multiplier: int
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        """int8, broadcast."""
        product = inputs.a.centred * inputs.b.centred
        scaled = requantize(product, self.multiplier, self.shift)
        return int8_clamped(y_zero_point + scaled, self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max)
        need_shift(self.shift)
        quant_of(inputs.a)
        quant_of(inputs.b)


@dataclass(frozen=True, slots=True)
class QMul16x15(IntegerOperator):
    """a, b int8 with numpy broadcasting (constants are int8 with quant), per tensor.

    ``y = output(bias + (a - za) * (b - zb))`` with one multiplier.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    output: Rescale16x15
    multiplier: int
    bias: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        """int8, broadcast."""
        acc = within32(inputs.a.centred * inputs.b.centred) + self.bias
        return self.output.apply(acc, self.multiplier).astype(self.output.dtype.numpy)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return self.output.bounds(_DIFFERENCE**2 + abs(self.bias), abs(self.multiplier))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.output.verify()
        need_multiplier(self.multiplier)
        need_dtype(output, self.output.dtype)
