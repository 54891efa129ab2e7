"""Largest element of a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import Pads2D, Pair, pool_shape


@dataclass(frozen=True, slots=True)
class MaxPool(OneInput):
    """x [N, H, W, C]; padding never wins."""

    MOVES_CODES: ClassVar[bool] = True

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True
