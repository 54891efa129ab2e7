"""Matrix product with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import Requantization
from edgec.ir.qops.layer_end import (
    Residual,
    finished,
    need_end,
    need_end_shapes,
    weighted_bounds,
)
from edgec.ir.qops.operands import CODES, MULTIPLIERS, Operand, parameter, table, tensor
from edgec.ir.shapes import check_per_output, gemm_shape

_CODE, _DIFFERENCE = 128, 256


@dataclass(frozen=True, slots=True)
class QGemm(IntegerOperator):
    """x int8 [..., K], weight int8 const [N, K], bias int32 const [N], multiplier const [N] of the
    type of the form; residual [..., N] (only with `residual`; value or constant), table int8 const
    [1024] (only with a table); y [..., N].

    ``acc = bias[n] + sum_k (x - zx) * weight[n, k]``; with `raw` ``acc = bias[n] + sum_k x *
    weight[n, k]``, raw codes: the zero points of x, which may be one for each k, are in the bias.
    Then `layer_end` with multiplier[n].
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

    output: Requantization
    residual: Residual | None = None
    raw: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        y = gemm_shape(inputs.x, inputs.weight)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.weight[1:])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.array if self.raw else inputs.x.centred
        total = x.astype(np.float64) @ inputs.weight.array.astype(np.float64).T
        return finished(self, total, inputs)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        # Kernels may take the zero point out of each input or out of the bias.
        numbers = inputs.weight, inputs.bias, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _CODE if self.raw else _DIFFERENCE)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_end(self, inputs.multiplier, output, inputs.residual, inputs.table)
