"""Softmax by powers of two and one division a row."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import half_step, rshr32, within32
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.exponentials import (
    distance_bounds,
    exponent_and_divisor,
    exponentials,
    need_exp_bits,
)
from edgec.ir.qops.operands import Operand, tensor


@dataclass(frozen=True, slots=True)
class QSoftmaxOctaves(IntegerOperator):
    """Softmax over the last axis of x int8 [..., C]; y int8, scale 1/256, zero point -128.

    With D, E, S, x and B of `QAttention` for ``L[j] = x[j]``:

        R    = (2^30 + B // 2) // B                          2^14 <= R <= 2^15
        y[j] = min(rshr(E[j] * R, x + 7) - 128, 127)

    Bounds: those of `QAttention`, with C for M; then 8 <= x + 7 <= 30.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))

    distance_multiplier: int
    distance_limit: int
    exp_bits: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        numbers = self.distance_multiplier, self.distance_limit, self.exp_bits
        weights = exponentials(x, np.ones_like(x, np.bool_), *numbers)
        total = within32(weights.sum(axis=-1, keepdims=True))
        exponent, divisor = exponent_and_divisor(total)
        reciprocal = (2**30 + divisor // 2) // divisor
        y = rshr32(within32(weights * reciprocal), exponent + 7) + INT8_MIN
        return np.asarray(np.minimum(y, INT8_MAX).astype(np.int8))

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        farthest = float(self.distance_multiplier * self.distance_limit)
        total = inputs.x.shape[-1] * 2.0**self.exp_bits
        return {
            **distance_bounds(farthest, self.exp_bits),
            "the sum of exponentials": 128.0 * total,
            "the normalised output": 2.0**self.exp_bits * 2.0**15 + half_step(30),
        }

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_exp_bits(self.exp_bits)
        need_dtype(output, DType.INT8)
