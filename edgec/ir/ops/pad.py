"""Elements around a tensor."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.layout import Freedom, Perm, picked
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need, padded_shape


class PadMode(enum.Enum):
    """ONNX Pad modes."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    EDGE = "edge"


@dataclass(frozen=True, slots=True)
class Pad(OneInput):
    """(before, after) per axis, non-negative."""

    MOVES_CODES: ClassVar[bool] = True

    pads: tuple[tuple[int, int], ...]
    mode: PadMode = PadMode.CONSTANT
    value: float = 0.0

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Pad:
        return replace(self, pads=picked(self.pads, frame))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        if self.mode is PadMode.REFLECT:
            fits = all(max(pair) < size for size, pair in zip(inputs.x, self.pads, strict=False))
            need(fits, "reflection wider than the tensor")
        return padded_shape(inputs.x, self.pads)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array | None:
        if self.mode is not PadMode.CONSTANT:
            return None
        return np.pad(inputs.x, self.pads, constant_values=self.value)
