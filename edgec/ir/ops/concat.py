"""Tensors side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator, check_int8_constants
from edgec.ir.shapes import concat_shape


@dataclass(frozen=True, slots=True)
class Concat(RealOperator):
    """Along `axis`."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """What is joined, in order; any may be a constant."""

        parts: tuple[T, ...] = ()

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    axis: int

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Concat:
        return replace(self, axis=frame.index(self.axis))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return concat_shape(inputs.parts, self.axis)

    def verify_annotated(self, inputs: Inputs[Tensor], output: Value) -> None:
        check_int8_constants(inputs)

    def evaluate(self, inputs: Inputs[Array]) -> Array:
        return np.concatenate(inputs.parts, axis=self.axis)
