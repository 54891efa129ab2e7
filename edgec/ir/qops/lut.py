"""Element functions of one variable, by table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import Operand, table, value
from edgec.ir.shapes import need

LUT_SIZE = 256
"""One entry for each int8 code."""


@dataclass(frozen=True, slots=True)
class QLut(IntegerOperator):
    """x, table int8 const [256]: ``y = table[x + 128]``.  Every element function of one variable,
    rescaling included.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        table: T = field(metadata=table(DType.INT8))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (LUT_SIZE,), "a table has 256 entries")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.asarray(inputs.table.array[inputs.x.wide + LUT_SIZE // 2])
