"""Mean of a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import Pads2D, Pair, pool_shape


@dataclass(frozen=True, slots=True)
class AveragePool(OneInput):
    """x [N, H, W, C]; the divisor is KH*KW if count_include_pad, else the taps inside the image."""

    ENDS_IN_CLAMP: ClassVar[bool] = True

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    count_include_pad: bool = False

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True
