"""Index of the largest or smallest code."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import Operand, value
from edgec.ir.shapes import reduced_shape


@dataclass(frozen=True, slots=True)
class QArgMax(IntegerOperator):
    """x int8, y int32: index of the largest code along `axis`, first or last on ties.

    With `smallest` that of the smallest code.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))

    axis: int
    keepdims: bool
    select_last_index: bool
    smallest: bool = False

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return reduced_shape(inputs.x, (self.axis,), self.keepdims)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, axis = inputs.x.wide, self.axis
        x = -x if self.smallest else x
        if self.select_last_index:
            flipped = np.flip(x, axis).argmax(axis=axis, keepdims=self.keepdims)
            return np.asarray(x.shape[axis] - 1 - flipped).astype(np.int32)
        return np.asarray(x.argmax(axis=axis, keepdims=self.keepdims)).astype(np.int32)
