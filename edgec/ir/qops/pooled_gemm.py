"""Matrix product with pooled weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.gemm import QGemm
from edgec.ir.qops.layer_end import finished, need_end
from edgec.ir.qops.operands import CODES, MULTIPLIERS, Operand, parameter, table, tensor
from edgec.ir.qops.pooling import (
    Pooling,
    expanded_shape,
    picks,
    responses_of,
    rounded_activations,
)
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QPooledGemm(IntegerOperator):
    """x [..., K], pool int8 const [S, G], indices uint16 const [N, ceil(K/G)], then bias,
    multiplier, residual and table as `QGemm`; y [..., N].

    A `QGemm` whose accumulator is that of `Pooling`.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        pool: T = field(metadata=parameter(DType.INT8))
        indices: T = field(metadata=parameter(DType.UINT16))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

    gemm: QGemm
    pooling: Pooling

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        weight = expanded_shape(inputs.x, inputs.pool, inputs.indices)
        rest = inputs.bias, inputs.multiplier, inputs.residual, inputs.table
        return self.gemm.infer_shape(QGemm.Inputs(inputs.x, weight, *rest))

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.indices[1:-1]) * inputs.x[-1]

    def compute(self, inputs: Inputs[Operand]) -> Array:
        pool, shift = inputs.pool.array, self.pooling.response_shift
        rounded = rounded_activations(inputs.x, self.pooling.activation_bits)
        responses = responses_of(rounded, pool, shift).astype(np.float64)
        total = responses @ picks(inputs.indices.array, len(pool)).astype(np.float64).T
        return finished(self.gemm, total * (1 << shift), inputs)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.pooling.verify()
        need(not self.gemm.raw, "pooled weights meet centred activations")
        need_end(self.gemm, inputs.multiplier, output, inputs.residual, inputs.table)
