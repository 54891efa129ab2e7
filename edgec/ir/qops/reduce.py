"""Mean, sum and maximum over axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, requantize
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops import ReduceKind
from edgec.ir.qops.arithmetic import accumulators, int8_clamped, within32
from edgec.ir.qops.base import (
    IntegerOperator,
    need_clamp,
    need_dtype,
    need_same_codes,
    need_shift,
)
from edgec.ir.qops.forms import Rescale16x15, need_multiplier
from edgec.ir.qops.operands import CODES, Operand, largest_code, tensor, value
from edgec.ir.shapes import need, reduced_shape

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QReduce(IntegerOperator):
    """x, over `axes`.

    MEAN and SUM: ``y = clamp(zy + requantize(sum (x - zx), multiplier, shift))``.
    MAX: the maximum, same quantization on both sides (multiplier and shift unused).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    multiplier: int = 0
    shift: int = 1
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        if self.kind is ReduceKind.MAX:
            return np.asarray(inputs.x.array.max(axis=self.axes, keepdims=self.keepdims))
        total = np.asarray(inputs.x.centred.sum(axis=self.axes, keepdims=self.keepdims))
        scaled = requantize(accumulators(total), self.multiplier, self.shift)
        return int8_clamped(y_zero_point + scaled, self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max)
        need_shift(self.shift)
        if self.kind is ReduceKind.MAX:
            need_same_codes((inputs.x,), output)


@dataclass(frozen=True, slots=True)
class QReduce16x15(IntegerOperator):
    """x int8 or int16, over `axes`, per tensor; MEAN or SUM.

    ``y = output(bias + sum (x - zx))`` with one multiplier.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    output: Rescale16x15
    multiplier: int
    bias: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        total = np.asarray(inputs.x.centred.sum(axis=self.axes, keepdims=self.keepdims))
        acc = within32(total) + self.bias
        return self.output.apply(acc, self.multiplier).astype(self.output.dtype.numpy)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        x = inputs.x
        # An int16 tensor has zero point 0.
        span = largest_code(x.dtype) if x.dtype is DType.INT16 else _DIFFERENCE
        acc = span * math.prod(x.shape[axis] for axis in self.axes) + abs(self.bias)
        return self.output.bounds(float(acc), float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.output.verify()
        need_multiplier(self.multiplier)
        need(self.kind is not ReduceKind.MAX, "a maximum needs no rescaling")
        need_dtype(output, self.output.dtype)
