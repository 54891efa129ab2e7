"""Convolution with pooled weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.conv import QConv
from edgec.ir.qops.convolution import conv_sums
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
from edgec.ir.weight_pool import expand, terms_of


@dataclass(frozen=True, slots=True)
class QPooledConv(PooledLayer):
    """x [N, H, W, I], pool int8 const [S, G], indices uint16 const [O, KH, KW, ceil(I/G) * terms],
    then b, multiplier, residual and table as `QConv`.

    A `QConv` of group 1 whose accumulator is that of `PoolRounding`.
    """

    conv: QConv
    rounding: PoolRounding

    def infer_shape(self, inputs: PooledLayer.Inputs[Shape]) -> Shape:
        w = expanded_shape(inputs.x, inputs.pool, inputs.indices)
        return self.conv.infer_shape(inputs.plain(w))

    def macs(self, inputs: PooledLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.indices[1:-1]) * inputs.x[-1]

    def compute(self, inputs: PooledLayer.Inputs[Operand]) -> Array:
        return finished(self.conv, self._sums(inputs), inputs)

    def _sums(self, inputs: PooledLayer.Inputs[Operand]) -> Array:
        x, pool, indices = inputs.x, inputs.pool.array, inputs.indices.array
        shift = self.rounding.response_shift
        rounded = rounded_activations(x, self.rounding.activation_bits)
        if shift == 0:
            weight = expand(pool, indices, x.array.shape[-1]).astype(np.int64)
            return conv_sums(self.conv, rounded, weight)
        responses = responses_of(rounded, pool, shift)
        terms = terms_of(indices.shape[-1], x.array.shape[-1], pool.shape[1])
        return conv_sums(self.conv, responses, picks(indices, len(pool), terms)) * (1 << shift)

    def verify(self, inputs: PooledLayer.Inputs[Tensor], output: Value) -> None:
        self.rounding.verify()
        need(self.conv.group == 1, "a pooled convolution has one group")
        need_end(self.conv, inputs.multiplier, output, inputs.residual, inputs.table)
