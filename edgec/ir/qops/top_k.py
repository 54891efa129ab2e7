"""The largest or smallest codes of a row, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_dtype, need_same_codes
from edgec.ir.qops.operands import Operand, value
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QTopK(IntegerOperator):
    """x int8 [..., N]: the `k` largest (or smallest) codes of each row, the most extreme first.

    y int8 [..., k] with the quantization of x; with `indices` int32, where they are.  Of equal
    codes the first comes first.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))

    k: int
    largest: bool
    indices: bool

    @property
    def gives_integers(self) -> bool:
        return self.indices

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(bool(inputs.x) and 0 < self.k <= inputs.x[-1], "k does not fit the last axis")
        return (*inputs.x[:-1], self.k)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.array
        ranks = -inputs.x.wide if self.largest else inputs.x.wide
        order = np.argsort(ranks, axis=-1, kind="stable")[..., : self.k]
        if self.indices:
            return order.astype(np.int32)
        return np.take_along_axis(x, order, axis=-1)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        if self.indices:
            need_dtype(output, DType.INT32)
        else:
            need_same_codes((inputs.x,), output)
