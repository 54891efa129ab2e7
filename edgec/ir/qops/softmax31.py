"""Softmax by exponentials of 31 bits and one reciprocal a row."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixed_functions import reciprocal
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.twice import high_product, rshr_away
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.lut import LUT_SIZE
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.shapes import need

SOFTMAX31_LONGEST = 511
"""Most elements of a row: longer ones may add up to more than TensorFlow Lite's kernel admits."""
_SUM_BITS = 12
"""Integer bits of the sum of a row, Q12.19."""
_OUTPUT_BITS = 8


@dataclass(frozen=True, slots=True)
class QSoftmax31(IntegerOperator):
    """x [..., N], table int32 const [256]; over the last axis; y has scale 1/256, zero point -128.

    ``E[i] = table[max(x) - x[i]]`` in Q0.31, ``S = sum rshr_away(E, 12)`` in Q12.19,
    ``1 / S = r * 2**-(31 + places)`` (`edgec.base.fixed_functions.reciprocal`);
    ``y[i] = min(rshr_away(high_product(r, E[i]), 23 + places) - 128, 127)``.

    Bounds: 0 <= table, table[0] = 2^31 - 1; 1 <= N <= 511, so 2^19 <= S < 2^28 and
    0 <= places <= 8.

    Source: TensorFlow Lite, kernels/internal/reference/softmax.h.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        table: T = field(metadata=parameter(DType.INT32))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (LUT_SIZE,), "a table has 256 entries")
        need(inputs.x[-1] <= SOFTMAX31_LONGEST, f"a row has more than {SOFTMAX31_LONGEST} elements")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        exponentials = inputs.table.wide[x.max(axis=-1, keepdims=True) - x]
        total = rshr_away(exponentials, _SUM_BITS).sum(axis=-1, keepdims=True)
        inverse, places = reciprocal(accumulators(np.asarray(total)), _SUM_BITS)
        y = rshr_away(high_product(inverse, exponentials), 31 - _OUTPUT_BITS + places)
        return int8_clamped(y + INT8_MIN, INT8_MIN, INT8_MAX)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, DType.INT8)
