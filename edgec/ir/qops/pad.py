"""A tensor with borders around it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops import PadMode
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import CODES, Operand, value
from edgec.ir.shapes import need, padded_shape


@dataclass(frozen=True, slots=True)
class QPad(IntegerOperator):
    """(before, after) per axis; `value` is an int8 code (CONSTANT mode)."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    pads: tuple[tuple[int, int], ...]
    mode: PadMode
    value: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        y = padded_shape(inputs.x, self.pads)
        if self.mode is PadMode.REFLECT:
            fits = all(max(pair) < size for pair, size in zip(self.pads, inputs.x, strict=True))
            need(fits, "reflection wider than the tensor")
        return y

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.array
        match self.mode:
            case PadMode.CONSTANT:
                return np.pad(x, self.pads, constant_values=self.value)
            case PadMode.EDGE:
                return np.pad(x, self.pads, mode="edge")
            case PadMode.REFLECT:
                return np.pad(x, self.pads, mode="reflect")

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(INT8_MIN <= self.value <= INT8_MAX, "the padding value is no int8 code")
        need_same_codes((inputs.x,), output)
