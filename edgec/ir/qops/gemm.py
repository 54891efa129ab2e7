"""Matrix product with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.forms import Requantization
from edgec.ir.qops.layer_end import (
    Residual,
    finished,
    need_end,
    need_end_shapes,
    weighted_bounds,
)
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.weighted import PlainLayer
from edgec.ir.shapes import check_per_output, gemm_shape

_CODE, _DIFFERENCE = 128, 256


@dataclass(frozen=True, slots=True)
class QGemm(PlainLayer):
    """x int8 [..., K], w int8 const [N, K], b int32 const [N], multiplier const [N] of the
    type of the form; residual [..., N] (only with `residual`; value or constant), table int8 const
    [1024] (only with a table); y [..., N].

    ``acc = b[n] + sum_k (x - zx) * w[n, k]``; with `raw` ``acc = b[n] + sum_k x *
    w[n, k]``, raw codes: the zero points of x, which may be one for each k, are in the bias.
    Then `layer_end` with multiplier[n].
    """

    output: Requantization
    residual: Residual | None = None
    raw: bool = False

    def infer_shape(self, inputs: PlainLayer.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        y = gemm_shape(inputs.x, inputs.w)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: PlainLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: PlainLayer.Inputs[Operand]) -> Array:
        x = inputs.x.array if self.raw else inputs.x.centred
        total = x.astype(np.float64) @ inputs.w.array.astype(np.float64).T
        return finished(self, total, inputs)

    def bounds(self, inputs: PlainLayer.Inputs[Tensor]) -> dict[str, float]:
        # Kernels may take the zero point out of each input or out of the bias.
        numbers = inputs.w, inputs.b, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _CODE if self.raw else _DIFFERENCE)

    def verify(self, inputs: PlainLayer.Inputs[Tensor], output: Value) -> None:
        need_end(self, inputs.multiplier, output, inputs.residual, inputs.table)
