"""Matrix product with pooled weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.gemm import QGemm
from edgec.ir.qops.layer_end import finished, need_end
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.pool_rounding import (
    PoolRounding,
    expanded_shape,
    picks,
    responses_of,
    rounded_activations,
)
from edgec.ir.qops.weighted import PooledLayer
from edgec.ir.shapes import need
from edgec.ir.weight_pool import terms_of


@dataclass(frozen=True, slots=True)
class QPooledGemm(PooledLayer):
    """x [..., K], pool int8 const [S, G], indices uint16 const [N, ceil(K/G) * terms], then b,
    multiplier, residual and table as `QGemm`; y [..., N].

    A `QGemm` whose accumulator is that of `PoolRounding`.
    """

    gemm: QGemm
    rounding: PoolRounding

    def infer_shape(self, inputs: PooledLayer.Inputs[Shape]) -> Shape:
        w = expanded_shape(inputs.x, inputs.pool, inputs.indices)
        return self.gemm.infer_shape(inputs.plain(w))

    def macs(self, inputs: PooledLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.indices[1:-1]) * inputs.x[-1]

    def compute(self, inputs: PooledLayer.Inputs[Operand]) -> Array:
        pool, shift = inputs.pool.array, self.rounding.response_shift
        terms = terms_of(inputs.indices.array.shape[-1], inputs.x.array.shape[-1], pool.shape[1])
        rounded = rounded_activations(inputs.x, self.rounding.activation_bits)
        responses = responses_of(rounded, pool, shift).astype(np.float64)
        total = responses @ picks(inputs.indices.array, len(pool), terms).astype(np.float64).T
        return finished(self.gemm, total * (1 << shift), inputs)

    def verify(self, inputs: PooledLayer.Inputs[Tensor], output: Value) -> None:
        self.rounding.verify()
        need(not self.gemm.raw, "pooled weights meet centred activations")
        need_end(self.gemm, inputs.multiplier, output, inputs.residual, inputs.table)
