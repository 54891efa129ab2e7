"""Repetition along axes of length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.length import shortened
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import broadcast, need


@dataclass(frozen=True, slots=True)
class Expand(OneInput):
    """x repeated along axes of length 1, numpy broadcasting to `shape`."""

    KEEPS_INTEGERS: ClassVar[bool] = True

    shape: tuple[int, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        fits = broadcast(inputs.x, self.shape) == self.shape
        need(fits, "x does not broadcast to the shape")
        return self.shape

    def shortened(self, axis: int, less: int) -> Expand:
        return Expand(shortened(self.shape, axis, less))
