"""Transposed convolution with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.convolution import conv_transpose_sums
from edgec.ir.qops.forms import Requantization, codes
from edgec.ir.qops.layer_end import need_form, weighted_bounds
from edgec.ir.qops.operands import MULTIPLIERS, Operand, parameter, tensor
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_transpose_shape

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QConvTranspose(IntegerOperator):
    """Inputs as `QConv`, without residual and table.

    ``acc[oy, ox, o] = bias[o] + sum`` over all (iy, ky) with ``oy = iy * stride - top + ky *
    dilation`` (same for x) of ``(x - zx) * weight[o, ky, kx, i]``; ``y = output(acc)`` with
    multiplier[o].
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output_padding: Pair
    output: Requantization

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        return conv_transpose_shape(inputs.x, inputs.weight, self)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        # Each input position meets every weight of its group.
        return math.prod(inputs.x[:3]) * math.prod(inputs.weight)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        total = conv_transpose_sums(self, inputs.x.centred, inputs.weight.array)
        acc = accumulators(total) + inputs.bias.array
        return codes(self.output, acc, inputs.multiplier.array)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        numbers = inputs.weight, inputs.bias, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _DIFFERENCE)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_form(self.output, inputs.multiplier, output)
