"""Product of two activations."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import Requantization, Rescale16x15, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.qops.twice import Twice31
from edgec.ir.shapes import matmul_shape, need

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QMatMul(IntegerOperator):
    """a int8 [..., M, K], b int8 [..., K, N] (transpose_a, transpose_b as `ops.MatMul`), leading
    axes broadcast; y [..., M, N].

    ``y = output(bias + sum_k (a - za) * (b - zb))`` with one multiplier; both per tensor; the bias
    holds the zero point.

    The form is `Rescale16x15`, or `Twice31` where the codes must be TensorFlow Lite Micro's.  All
    elements share one factor, so 15 bits hold it to a part in 2^15, at most 0.01 of an output step,
    and no trained weight has to keep its codes: `Requant31` would change nothing but the cost of
    the product.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8))
        b: T = field(metadata=tensor(DType.INT8))

    output: Requantization
    multiplier: int
    bias: int = 0
    transpose_a: bool = False
    transpose_b: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return matmul_shape(inputs.a, inputs.b, self.transpose_a, self.transpose_b)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * self._depth(inputs.a)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        a, b = inputs.a.centred.astype(np.float64), inputs.b.centred.astype(np.float64)
        a = a.swapaxes(-1, -2) if self.transpose_a else a
        b = b.swapaxes(-1, -2) if self.transpose_b else b
        return codes(self.output, accumulators(a @ b) + self.bias, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        acc = _DIFFERENCE**2 * self._depth(inputs.a.shape) + abs(self.bias)
        return self.output.bounds(float(acc), float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        fits = isinstance(self.output, Rescale16x15 | Twice31)
        need(fits, "a product of matrices takes 16 by 15 bits, or rounds twice")
        need_single(self.output, self.multiplier, self.bias, output)

    def _depth(self, a: Shape) -> int:
        """The number of products in a sum, K."""
        return a[-2 if self.transpose_a else -1]
