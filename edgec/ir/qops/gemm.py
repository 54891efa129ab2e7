"""Matrix product with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_zero_point
from edgec.ir.qops.forms import Rescale16x15
from edgec.ir.qops.operands import CODES, Operand, parameter, table, tensor, value
from edgec.ir.qops.weighted_ends import (
    finished,
    need_end_shapes,
    need_narrow_end,
    need_numbers,
    requantized,
    weighted_bounds,
)
from edgec.ir.shapes import check_per_output, gemm_shape


@dataclass(frozen=True, slots=True)
class QGemm(IntegerOperator):
    """x [..., K], weight int8 const [N, K], bias [N], multiplier [N]; y [..., N].

    ``y = clamp(y_zero_point + requantize(bias[n] + sum_k (x - zx) * weight[n, k], multiplier[n],
    shift))``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT32))

    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        return gemm_shape(inputs.x, inputs.weight)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.weight[1:])

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        total = inputs.x.centred.astype(np.float64) @ inputs.weight.array.astype(np.float64).T
        return requantized(self, total, inputs.bias.array, inputs.multiplier.array)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_numbers(self)
        need_zero_point(output, self.y_zero_point, "the output")


@dataclass(frozen=True, slots=True)
class QGemm16x15(IntegerOperator):
    """x int8 [..., K], weight int8 const [N, K], bias int32 const [N], multiplier int16 const [N],
    residual of the stream [..., N] (only with `residual`; value or constant), table int8 const
    [1024] (only with `table`); y [..., N].

    ``acc = bias[n] + sum_k x * weight[n, k]``: raw codes, the zero points of x are in the bias.

    * plain: ``y = output(acc)``.
    * table: the output has low = -512, high = 511; ``y = table[output(acc) + 512]``, int8.
    * residual: y of the stream is ``min(max(rshr(a * multiplier[n], shift) + residual, low),
      high)``.

    Never both of table and residual.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT16))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

    output: Rescale16x15
    table: bool = False
    residual: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        y = gemm_shape(inputs.x, inputs.weight)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.weight[1:])

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        x, weight = inputs.x.array.astype(np.float64), inputs.weight.array.astype(np.float64)
        return finished(self, x @ weight.T, inputs)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return weighted_bounds(self.output, inputs.weight, inputs.bias, inputs.multiplier, 128)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_narrow_end(self, inputs.table, inputs.residual, output)
