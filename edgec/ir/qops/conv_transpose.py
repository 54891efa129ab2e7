"""Transposed convolution with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_zero_point
from edgec.ir.qops.convolution import conv_transpose_sums
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.qops.weighted_ends import need_numbers, requantized
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_transpose_shape


@dataclass(frozen=True, slots=True)
class QConvTranspose(IntegerOperator):
    """Inputs as `QConv` (no residual).  ``acc[oy, ox, o] = bias[o] + sum`` over all (iy, ky) with
    ``oy = iy * stride - top + ky * dilation`` (same for x) of ``(x - zx) * weight[o, ky, kx, i]``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT32))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output_padding: Pair
    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        return conv_transpose_shape(inputs.x, inputs.weight, self)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        # Each input position meets every weight of its group.
        return math.prod(inputs.x[:3]) * math.prod(inputs.weight)

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        total = conv_transpose_sums(self, inputs.x.centred, inputs.weight.array)
        return requantized(self, total, inputs.bias.array, inputs.multiplier.array)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_numbers(self)
        need_zero_point(output, self.y_zero_point, "the output")
