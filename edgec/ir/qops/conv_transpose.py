"""Transposed convolution with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.convolution import conv_transpose_sums
from edgec.ir.qops.forms import Requantization, codes
from edgec.ir.qops.layer_end import need_form, weighted_bounds
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.weighted import Weighted
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_transpose_shape

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QConvTranspose(Weighted):
    """Inputs as `QConv`, without residual and table.

    ``acc[oy, ox, o] = b[o] + sum`` over all (iy, ky) with ``oy = iy * stride - top + ky *
    dilation`` (same for x) of ``(x - zx) * w[o, ky, kx, i]``; ``y = output(acc)`` with
    multiplier[o].
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output_padding: Pair
    output: Requantization

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        return conv_transpose_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each input position meets every weight of its group.
        return math.prod(inputs.x[:3]) * math.prod(inputs.w)

    def compute(self, inputs: Weighted.Inputs[Operand]) -> Array:
        total = conv_transpose_sums(self, inputs.x.centred, inputs.w.array)
        acc = accumulators(total) + inputs.b.array
        return codes(self.output, acc, inputs.multiplier.array)

    def bounds(self, inputs: Weighted.Inputs[Tensor]) -> dict[str, float]:
        numbers = inputs.w, inputs.b, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _DIFFERENCE)

    def verify(self, inputs: Weighted.Inputs[Tensor], output: Value) -> None:
        need_form(self.output, inputs.multiplier, output)
