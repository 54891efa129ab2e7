"""Matrix product with pooled weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_zero_point
from edgec.ir.qops.gemm import QGemm
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.qops.pooling import (
    Pooling,
    expanded_shape,
    picks,
    responses_of,
    rounded_activations,
)
from edgec.ir.qops.weighted_ends import need_numbers, requantized


@dataclass(frozen=True, slots=True)
class QPooledGemm(IntegerOperator):
    """x [..., K], pool int8 const [S, G], indices uint16 const [N, ceil(K/G)], bias [N],
    multiplier [N]; y [..., N].

    A `QGemm` whose accumulator is that of `Pooling`.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        pool: T = field(metadata=parameter(DType.INT8))
        indices: T = field(metadata=parameter(DType.UINT16))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT32))

    gemm: QGemm
    pooling: Pooling

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        weight = expanded_shape(inputs.x, inputs.pool, inputs.indices)
        rest = inputs.bias, inputs.multiplier
        return self.gemm.infer_shape(QGemm.Inputs(inputs.x, weight, *rest))

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.indices[1:-1]) * inputs.x[-1]

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        pool, shift = inputs.pool.array, self.pooling.response_shift
        rounded = rounded_activations(inputs.x, self.pooling.activation_bits)
        responses = responses_of(rounded, pool, shift).astype(np.float64)
        total = responses @ picks(inputs.indices.array, len(pool)).astype(np.float64).T
        scaled = total * (1 << shift)
        return requantized(self.gemm, scaled, inputs.bias.array, inputs.multiplier.array)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.pooling.verify()
        need_numbers(self.gemm)
        need_zero_point(output, self.gemm.y_zero_point, "the output")
