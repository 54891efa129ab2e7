"""A part of a tensor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.length import shortened
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import MOVABLE, Operand, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QSlice(IntegerOperator):
    """y[i...] = x[start + i * step ...]; see `ops.Slice`."""

    KEEPS_INTEGERS: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        ranges = (self.starts, self.steps, self.sizes)
        need(all(len(r) == len(inputs.x) for r in ranges), "one range per axis is needed")
        for size, start, step, count in zip(inputs.x, *ranges, strict=True):
            last = start + (count - 1) * step
            need(count > 0 and 0 <= start < size and 0 <= last < size, "range outside the tensor")
        return self.sizes

    def compute(self, inputs: Inputs[Operand]) -> Array:
        ranges = zip(self.starts, self.steps, self.sizes, strict=True)
        positions = [start + step * np.arange(size) for start, step, size in ranges]
        return np.asarray(inputs.x.array[np.ix_(*positions)])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)

    def shortened(self, axis: int, less: int) -> QSlice:
        return replace(self, sizes=shortened(self.sizes, axis, less))
