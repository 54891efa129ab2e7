"""Part of a tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.layout import Freedom, Perm, picked
from edgec.ir.length import shortened
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Slice(OneInput):
    """One (start, step, size) per axis of x: y[i] = x[start + i * step], all resolved."""

    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Slice:
        return Slice(*(picked(each, frame) for each in (self.starts, self.steps, self.sizes)))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        ranges = (self.starts, self.steps, self.sizes)
        need(all(len(r) == len(inputs.x) for r in ranges), "one range per axis is needed")
        for size, start, step, count in zip(inputs.x, *ranges, strict=True):
            last = start + (count - 1) * step
            need(count > 0 and 0 <= start < size and 0 <= last < size, "range outside the tensor")
        return tuple(self.sizes)

    def shortened(self, axis: int, less: int) -> Slice:
        return replace(self, sizes=shortened(self.sizes, axis, less))

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array:
        ranges = zip(self.starts, self.steps, self.sizes, strict=True)
        # An open mesh of indices is right for negative steps, too.
        return inputs.x[np.ix_(*(start + step * np.arange(size) for start, step, size in ranges))]
