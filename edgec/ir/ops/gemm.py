"""Product with a matrix of weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir.layout import Freedom
from edgec.ir.operator import Shape
from edgec.ir.ops.weighted import Weighted
from edgec.ir.shapes import check_per_output, gemm_shape


@dataclass(frozen=True, slots=True)
class Gemm(Weighted):
    """x [..., K], w const [N, K], b const [N]; ``y = x @ w.T + b`` [..., N]."""

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b)
        return gemm_shape(inputs.x, inputs.w)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each output element reads one row of weights.
        return math.prod(output) * math.prod(inputs.w[1:])
