"""Transposed convolution."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir.operator import Shape
from edgec.ir.ops.weighted import Weighted
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_transpose_shape


@dataclass(frozen=True, slots=True)
class ConvTranspose(Weighted):
    """x [N, H, W, I], w const [O, KH, KW, I/group], b const [O]; y [N, OH, OW, O].

    Output size: ``(H-1)*stride + (KH-1)*dilation + 1 + output_padding - top - bottom``.
    """

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    group: int = 1
    output_padding: Pair = (0, 0)

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b)
        return conv_transpose_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each input position meets every weight of its group.
        return math.prod(inputs.x[:3]) * math.prod(inputs.w)

    def mixes_positions(self, inputs: Weighted.Inputs[Shape], axis: int) -> bool:
        return True
