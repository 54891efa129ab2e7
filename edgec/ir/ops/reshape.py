"""Another shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.ir.length import shortened
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Reshape(OneInput):
    """Same elements in row-major order, new shape."""

    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    shape: tuple[int, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(math.prod(self.shape) == math.prod(inputs.x), "the number of elements changes")
        return tuple(self.shape)

    def shortened(self, axis: int, less: int) -> Reshape:
        return Reshape(shortened(self.shape, axis, less))

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array:
        return inputs.x.reshape(self.shape)
