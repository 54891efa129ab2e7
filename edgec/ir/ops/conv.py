"""Convolution of images, in groups."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir.operator import Shape
from edgec.ir.ops.weighted import Weighted
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_shape


@dataclass(frozen=True, slots=True)
class Conv(Weighted):
    """x [N, H, W, I], w const [O, KH, KW, I/group], b const [O]; y [N, OH, OW, O]."""

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    group: int = 1

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b)
        return conv_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each output element reads one row of weights.
        return math.prod(output) * math.prod(inputs.w[1:])

    def mixes_positions(self, inputs: Weighted.Inputs[Shape], axis: int) -> bool:
        return (*inputs.w[1:3], *self.strides) != (1, 1, 1, 1) or any(self.pads)
