"""Convolution with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.forms import Requantization
from edgec.ir.qops.layer_end import (
    Residual,
    finished,
    need_end,
    need_end_shapes,
    weighted_bounds,
)
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.weighted import PlainLayer
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_shape

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QConv(PlainLayer):
    """x int8 [N, H, W, I], w int8 const [O, KH, KW, I/group], b int32 const [O], multiplier
    const [O] of the type of the form; residual [N, OH, OW, O] (only with `residual`), table int8
    const [1024] (only with a table).

    ``acc = b[o] + sum (x - zx) * w`` over the taps inside the image, x quantized per
    tensor; then `layer_end` with multiplier[o].

    Depthwise: group == I and I/group == 1; O may be a multiple of I.
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output: Requantization
    residual: Residual | None = None

    def infer_shape(self, inputs: PlainLayer.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        y = conv_shape(inputs.x, inputs.w, self)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: PlainLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: PlainLayer.Inputs[Operand]) -> Array:
        return finished(self, conv_sums(self, inputs.x.centred, inputs.w.array), inputs)

    def bounds(self, inputs: PlainLayer.Inputs[Tensor]) -> dict[str, float]:
        # Kernels may take the zero point out of each input or out of the bias.
        numbers = inputs.w, inputs.b, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _DIFFERENCE)

    def verify(self, inputs: PlainLayer.Inputs[Tensor], output: Value) -> None:
        need_end(self, inputs.multiplier, output, inputs.residual, inputs.table)
