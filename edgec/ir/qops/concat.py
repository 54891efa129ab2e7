"""Tensors one after the other along an axis."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import CODES, Operand, tensor
from edgec.ir.shapes import concat_shape


@dataclass(frozen=True, slots=True)
class QConcat(IntegerOperator):
    """Along `axis`; all inputs (constants are int8) and the output share one quantization."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        parts: tuple[T, ...] = field(default=(), metadata=tensor(*CODES))

    axis: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return concat_shape(inputs.parts, self.axis)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.concatenate([part.array for part in inputs.parts], axis=self.axis)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes(inputs.parts, output)
