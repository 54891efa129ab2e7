"""Operators of networks with 16-bit activations, as TensorFlow Lite Micro computes them.

Their tensors are int16 with zero point 0 unless said otherwise; weights are int8.  Sums have 64
bits wherever 32 could overflow (`QWideConv.sum_bits`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, saturate
from edgec.base.reduced import LEAST_SHIFT, MOST_SHIFT, scaled_once
from edgec.base.twice import scaled_twice
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.average_codes import mean_of_codes, need_windows_that_meet
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_dtype, need_shift
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.operands import CODES, Operand, numbers, table, tensor, value
from edgec.ir.shapes import Pads2D, Pair, broadcast, conv_shape, need, pool_shape

_SPAN = 1 << 15
"""Largest magnitude of a code."""
_LIMITS = {DType.INT8: (INT8_MIN, INT8_MAX), DType.INT16: (INT16_MIN, INT16_MAX)}


def _clamped(values: Array, low: int, high: int, dtype: DType = DType.INT16) -> Array:
    return saturate(values, low, high).astype(dtype.numpy)


@dataclass(frozen=True, slots=True)
class Factor:
    """``scaled_twice(x, multiplier, shift)`` (`edgec.base.twice`), x within 2^16.

    Bounds: 0 <= multiplier < 2^31; -31 <= shift <= 14.
    """

    MOST_LEFT: ClassVar[int] = 14
    """Largest left shift: a number of 17 bits stays within 32."""

    multiplier: int
    shift: int

    def of(self, x: Array) -> Array:
        """X times the factor; int64."""
        return scaled_twice(x, self.multiplier, self.shift)

    def verify(self, most: int = MOST_LEFT) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need(0 <= self.multiplier <= INT32_MAX, f"bad multiplier {self.multiplier}")
        need_shift(self.shift, -31, most)


@dataclass(frozen=True, slots=True)
class QWideConv(IntegerOperator):
    """x [N, H, W, I], w int8 const [O, KH, KW, I/group], b int32 const [O], multiplier int16 const
    [O], shift int8 const [O].

    ``y = clamp(scaled_once(b[o] + sum x * w, multiplier[o], shift[o]))`` (`edgec.base.reduced`);
    the sum runs over the taps inside the image.
    """

    NAME: ClassVar[str] = "15 bits of 64"

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        w: T = field(metadata=table(DType.INT8))
        b: T = field(metadata=table(DType.INT32))
        multiplier: T = field(metadata=table(DType.INT16))
        shift: T = field(metadata=table(DType.INT8))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    act_min: int = INT16_MIN
    act_max: int = INT16_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        outputs = (inputs.w[0],)
        need(inputs.b == inputs.multiplier == inputs.shift == outputs, "not one for each output")
        return conv_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        sums = conv_sums(self, inputs.x.wide, inputs.w.array).astype(np.int64) + inputs.b.wide
        y = scaled_once(sums, inputs.multiplier.wide, inputs.shift.wide)
        return _clamped(y, self.act_min, self.act_max)

    def sum_bits(self, inputs: Inputs[Tensor]) -> int:
        """Bits that hold every sum, whatever the input and the order: 32 or 64."""
        weights = np.abs(numbers(inputs.w)).reshape(inputs.w.shape[0], -1).sum(axis=1)
        most = (weights * _SPAN + np.abs(numbers(inputs.b))).max()
        return 32 if most <= INT32_MAX else 64

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max, INT16_MIN, INT16_MAX)
        need_dtype(output, DType.INT16)
        shifts, multipliers = numbers(inputs.shift), numbers(inputs.multiplier)
        within = shifts.min() >= LEAST_SHIFT and shifts.max() <= MOST_SHIFT
        need(bool(within and multipliers.min() >= 0), "a factor is out of range")


@dataclass(frozen=True, slots=True)
class QWideAdd(IntegerOperator):
    """a, b with numpy broadcasting: ``y = clamp(y(a(a << 15) +- b(b << 15)))``.

    The factors of a and b are at most 1/2, so sums stay within 2^30.

    Source: TensorFlow Lite, kernels/internal/reference/add.h (AddElementwise).
    """

    FINE_BITS: ClassVar[int] = 15

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT16))
        b: T = field(metadata=tensor(DType.INT16))

    a: Factor
    b: Factor
    y: Factor
    subtracts: bool = False
    act_min: int = INT16_MIN
    act_max: int = INT16_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        first = self.a.of(inputs.a.wide << self.FINE_BITS)
        second = self.b.of(inputs.b.wide << self.FINE_BITS)
        total = first - second if self.subtracts else first + second
        return _clamped(self.y.of(total), self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        for factor in (self.a, self.b, self.y):
            factor.verify(0)
        need(max(self.a.shift, self.b.shift) <= -1 or self._halves, "a factor exceeds 1/2")
        need_clamp(self.act_min, self.act_max, INT16_MIN, INT16_MAX)
        need_dtype(output, DType.INT16)

    @property
    def _halves(self) -> bool:
        """The larger factor is 1/2: its multiplier is 2^30 where its shift is 0."""
        return all(f.shift < 0 or f.multiplier <= 1 << 30 for f in (self.a, self.b))


@dataclass(frozen=True, slots=True)
class QWideMul(IntegerOperator):
    """a, b with numpy broadcasting: ``y = clamp(output(a * b))``.

    The factor is below 1, so products stay within 32 bits.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT16))
        b: T = field(metadata=tensor(DType.INT16))

    factor: Factor
    act_min: int = INT16_MIN
    act_max: int = INT16_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        product = inputs.a.wide * inputs.b.wide
        return _clamped(self.factor.of(product), self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.factor.verify(0)
        need_clamp(self.act_min, self.act_max, INT16_MIN, INT16_MAX)
        need_dtype(output, DType.INT16)


@dataclass(frozen=True, slots=True)
class QWideRescale(IntegerOperator):
    """x and y int8 or int16: ``y = clamp(zy + factor(x - zx))``.

    Source: TensorFlow Lite, kernels/internal/reference/requantize.h.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    factor: Factor
    x_zero_point: int
    y_zero_point: int
    dtype: DType
    act_min: int
    act_max: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        scaled = self.factor.of(inputs.x.wide - self.x_zero_point)
        return _clamped(scaled + self.y_zero_point, self.act_min, self.act_max, self.dtype)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.factor.verify()
        need_clamp(self.act_min, self.act_max, *_LIMITS[self.dtype])
        need_dtype(output, self.dtype)


@dataclass(frozen=True, slots=True)
class QWideAverage(IntegerOperator):
    """x [N, H, W, C]: the mean of codes over windows, rounded to the nearest, halves away from 0.

    The sum runs over the taps inside the image; every window meets the image.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops/pooling.h (AveragePool).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    act_min: int = INT16_MIN
    act_max: int = INT16_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        mean = mean_of_codes(self, self.kernel, inputs.x.wide)
        return _clamped(mean, self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max, INT16_MIN, INT16_MAX)
        need_dtype(output, DType.INT16)
        need(math.prod(self.kernel) < 1 << 16, "its sums do not fit 32 bits")
        need_windows_that_meet(self, self.kernel)
