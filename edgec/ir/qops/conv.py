"""Convolution with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.forms import Requantization
from edgec.ir.qops.layer_end import (
    Residual,
    finished,
    need_end,
    need_end_shapes,
    weighted_bounds,
)
from edgec.ir.qops.operands import CODES, MULTIPLIERS, Operand, parameter, table, tensor
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_shape

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QConv(IntegerOperator):
    """x int8 [N, H, W, I], weight int8 const [O, KH, KW, I/group], bias int32 const [O], multiplier
    const [O] of the type of the form; residual [N, OH, OW, O] (only with `residual`), table int8
    const [1024] (only with a table).

    ``acc = bias[o] + sum (x - zx) * weight`` over the taps inside the image, x quantized per
    tensor; then `layer_end` with multiplier[o].

    Depthwise: group == I and I/group == 1; O may be a multiple of I.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output: Requantization
    residual: Residual | None = None

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        y = conv_shape(inputs.x, inputs.weight, self)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.weight[1:])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return finished(self, conv_sums(self, inputs.x.centred, inputs.weight.array), inputs)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        # Kernels may take the zero point out of each input or out of the bias.
        numbers = inputs.weight, inputs.bias, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _DIFFERENCE)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_end(self, inputs.multiplier, output, inputs.residual, inputs.table)
