"""Product of two activations."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import matmul_shape


@dataclass(frozen=True, slots=True)
class MatMul(RealOperator):
    """scale * (a @ b) of two values: a [..., M, K], b [..., K, N]; leading axes broadcast.

    transpose_a: a is stored [..., K, M]; transpose_b: b is stored [..., N, K].
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """The two matrices."""

        a: T
        b: T

    transpose_a: bool = False
    transpose_b: bool = False
    scale: float = 1.0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return matmul_shape(inputs.a, inputs.b, self.transpose_a, self.transpose_b)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * self.terms(inputs)

    def terms(self, inputs: Inputs[Shape]) -> int:
        """Number of products in one element of the output."""
        return inputs.a[-2 if self.transpose_a else -1]

    def mixes_positions(self, inputs: Inputs[Shape], axis: int) -> bool:
        return True
