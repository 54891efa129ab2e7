"""Rows of a table, by token ids."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.operands import CODES, Operand, table, tensor
from edgec.ir.qops.stream import of_stream
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QEmbedding(IntegerOperator):
    """ids int32 [...], table int8 or int16 const [V, C]; y of the stream [..., C].

    ``y = sat16(table[min(max(id, 0), V-1), c] * multiplier)``, 1 <= multiplier <= 32767; of int8
    the table is int8 and the multiplier 1.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        ids: T = field(metadata=tensor(DType.INT32))
        table: T = field(metadata=table(*CODES))

    multiplier: int = 1
    dtype: DType = DType.INT16

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.table) == 2, "the table must be [V, C]")
        return (*inputs.ids, inputs.table[1])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        ids, rows = inputs.ids.array, inputs.table.wide
        return of_stream(self.dtype, rows[np.clip(ids, 0, len(rows) - 1)] * self.multiplier)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, self.dtype)
        need(1 <= self.multiplier <= INT16_MAX, f"bad multiplier {self.multiplier}")
        if self.dtype is DType.INT8:
            need(self.multiplier == 1, "an int8 stream with a multiplier")
            need(inputs.table.dtype is DType.INT8, "the table is not int8")
