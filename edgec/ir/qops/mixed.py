"""Operators between int8 and int16 tensors, in edgec's own rounding.

Each tensor of these operators is int8 or int16, whatever the others are; an int16 one has the zero
point 0.  They end in `Requant31`, whose `dtype` is that of the output.  The sums have 32 bits: the
quantizer bounds the codes of an int16 tensor (`reach`) by what the layers that read it can add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import rshr
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, half_step
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_dtype, need_shift, need_zero_point
from edgec.ir.qops.convolution import conv_sums, window_sums
from edgec.ir.qops.forms import LIMITS, Requant31, codes
from edgec.ir.qops.layer_end import need_form, need_single, weighted_bounds
from edgec.ir.qops.operands import CODES, Operand, parameter, quant_of, table, tensor, value
from edgec.ir.shapes import (
    Pads2D,
    Pair,
    broadcast,
    check_per_output,
    conv_shape,
    matmul_shape,
    need,
    pool_shape,
)

MIXED_TABLE_ENTRIES = 513
"""Entries of a table over all int16 codes: one each 128 codes, and one for the last."""
MIXED_STEP_BITS = 7
"""Bits of a code between two entries."""
_INT8_SPAN = 256
"""Bound of |q - zero point| of int8 codes; kernels may take the zero point out of the bias."""


def span_of(item: Tensor) -> int:
    """Bound of |q - zero point| of a tensor's codes, whatever they are."""
    return 1 << 15 if item.dtype is DType.INT16 else _INT8_SPAN


def need_reach(item: Tensor, reach: int) -> None:
    """Check a bound of |q - zero point| of a tensor's codes.

    Raises:
        ValueError: it is none for this type.
    """
    need(0 < reach <= span_of(item), f"bad reach {reach}")
    need(item.dtype is DType.INT16 or reach == _INT8_SPAN, "int8 codes reach 256")


@dataclass(frozen=True, slots=True)
class QMixedConv(IntegerOperator):
    """x [N, H, W, I], w int8 const [O, KH, KW, I/group], b int32 const [O], multiplier int32 const
    [O].

    ``y = output(b[o] + sum (x - zx) * w)`` with multiplier[o]; the sum runs over the taps inside
    the image.  A matrix product is one over a row of pixels.

    Bounds: |x - zx| <= reach, which what computes x keeps (`quant.convert.mixed.reach`).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        w: T = field(metadata=parameter(DType.INT8))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT32))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output: Requant31
    reach: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        return conv_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        total = accumulators(conv_sums(self, inputs.x.centred, inputs.w.array))
        return codes(self.output, total + inputs.b.wide, inputs.multiplier.array)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return weighted_bounds(self.output, inputs.w, inputs.b, inputs.multiplier, self.reach)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_form(self.output, inputs.multiplier, output)
        need_reach(inputs.x, self.reach)


@dataclass(frozen=True, slots=True)
class QMixedAdd(IntegerOperator):
    """a, b with numpy broadcasting; subtraction has a negative multiplier of b.

    ``y = clamp(zy + rshr((a - za) * a_multiplier + (b - zb) * b_multiplier, shift))``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    a_multiplier: int
    b_multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int
    dtype: DType

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        total = inputs.a.centred * self.a_multiplier + inputs.b.centred * self.b_multiplier
        scaled = self.zero_point + rshr(accumulators(total), self.shift)
        return np.asarray(np.clip(scaled, self.low, self.high).astype(self.dtype.numpy))

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        a, b = span_of(inputs.a), span_of(inputs.b)
        total = a * abs(self.a_multiplier) + b * abs(self.b_multiplier)
        return {"the sum": float(total + half_step(self.shift))}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_shift(self.shift, 1, 30)
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_dtype(output, self.dtype)
        need_zero_point(output, self.zero_point, "the output")
        for item in (inputs.a, inputs.b):
            quant_of(item)


@dataclass(frozen=True, slots=True)
class QMixedMul(IntegerOperator):
    """a, b with numpy broadcasting: ``y = output((a - za) * (b - zb))`` with one multiplier."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    output: Requant31
    multiplier: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        product = accumulators(inputs.a.centred * inputs.b.centred)
        return codes(self.output, product, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        most = float(span_of(inputs.a) * span_of(inputs.b))
        return self.output.bounds(most, abs(self.multiplier))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
        for item in (inputs.a, inputs.b):
            quant_of(item)


@dataclass(frozen=True, slots=True)
class QMixedMatMul(IntegerOperator):
    """a [..., M, K], b [..., K, N] (transpose_a, transpose_b as `ops.MatMul`), leading axes
    broadcast; y [..., M, N].

    ``y = output(sum_k (a - za) * (b - zb))`` with one multiplier.

    Bounds: |a - za| <= a_reach and |b - zb| <= b_reach, which what computes them keeps; a_reach *
    b_reach * K < 2^31.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    output: Requant31
    multiplier: int
    a_reach: int
    b_reach: int
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
        return codes(self.output, accumulators(a @ b), self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        acc = float(self.a_reach * self.b_reach * self._depth(inputs.a.shape))
        return self.output.bounds(acc, abs(self.multiplier))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
        for item, reach in ((inputs.a, self.a_reach), (inputs.b, self.b_reach)):
            need_reach(item, reach)

    def _depth(self, a: Shape) -> int:
        """The number of products in a sum, K."""
        return a[-2 if self.transpose_a else -1]


MIXED_FACTOR_BITS = 16
"""Most bits of the multiplier of a quotient, and its largest shifts."""
_FURTHEST = (1 << 16) - 1
"""Steps that leave int16 whatever the sign."""


@dataclass(frozen=True, slots=True)
class QMixedDiv(IntegerOperator):
    """a, b with numpy broadcasting: the quotient, rounded once, halves away from zero.

    With ``n = |a - za| * multiplier`` and ``d = |b - zb| << right``,
    ``y = clamp(zero_point + sign * min((n * 2**left + d // 2) // d, 65535))``.  The sign is that of
    ``(a - za) * (b - zb)``.  Where b is zero, the quotient is 65535 with the sign of ``a - za``, or
    0 where that is zero, too.  One of the shifts is 0, so 32 bits hold n, d and, left by `left`
    bits, the rest of ``n // d``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    multiplier: int
    left: int
    right: int
    zero_point: int
    low: int
    high: int
    dtype: DType

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        a, b = inputs.a.centred, inputs.b.centred
        dividend, divisor = np.abs(a) * self.multiplier << self.left, np.abs(b) << self.right
        quotient = (dividend + divisor // 2) // np.maximum(divisor, 1)
        steps = np.where(divisor == 0, np.where(a == 0, 0, _FURTHEST), quotient)
        sign = np.where(b < 0, -np.sign(a), np.sign(a))
        total = self.zero_point + np.minimum(steps, _FURTHEST) * sign
        return np.asarray(np.clip(total, self.low, self.high).astype(self.dtype.numpy))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(0 < self.multiplier < 1 << MIXED_FACTOR_BITS, f"bad multiplier {self.multiplier}")
        need_shift(self.left, 0, MIXED_FACTOR_BITS)
        need_shift(self.right, 0, MIXED_FACTOR_BITS)
        need(self.left == 0 or self.right == 0, "two shifts")
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_dtype(output, self.dtype)
        need_zero_point(output, self.zero_point, "the output")
        for item in (inputs.a, inputs.b):
            quant_of(item)


@dataclass(frozen=True, slots=True)
class QMixedAverage(IntegerOperator):
    """x [N, H, W, C], multiplier int32 const [KH*KW + 1]: the mean over windows.

    ``y = output(sum (x - zx))`` with multiplier[count]; the sum runs over the taps inside the image
    and count is their number (KH*KW everywhere if count_include_pad).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        multiplier: T = field(metadata=table(DType.INT32))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    count_include_pad: bool
    output: Requant31

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        taps = self.kernel[0] * self.kernel[1]
        need(inputs.multiplier == (taps + 1,), "one multiplier per tap count is needed")
        return pool_shape(inputs.x, self.kernel, self)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        total, count = window_sums(self, self.kernel, inputs.x.centred, self.count_include_pad)
        return codes(self.output, total, inputs.multiplier.array[count])

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return {"the sum": float(span_of(inputs.x) * math.prod(self.kernel))}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_form(self.output, inputs.multiplier, output)


@dataclass(frozen=True, slots=True)
class QMixedTable(IntegerOperator):
    """A function of one variable: x int16, table int16 const [513], straight lines between entries.

    With ``i = 256 + (x >> 7)`` and ``f = x & 127``,
    ``y = clamp(zy + rshr((table[i] << 7) + f * (table[i+1] - table[i]), 7 + fine))``: the entries
    are steps of the output with `fine` more bits.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        table: T = field(metadata=table(DType.INT16))

    fine: int
    zero_point: int
    low: int
    high: int
    dtype: DType

    @property
    def shift(self) -> int:
        """Right shift of an interpolated number."""
        return MIXED_STEP_BITS + self.fine

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (MIXED_TABLE_ENTRIES,), "a table has 513 entries")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, entries = inputs.x.wide, inputs.table.wide
        step = (MIXED_TABLE_ENTRIES >> 1) + (x >> MIXED_STEP_BITS)
        between = x & ((1 << MIXED_STEP_BITS) - 1)
        line = (entries[step] << MIXED_STEP_BITS) + between * (entries[step + 1] - entries[step])
        scaled = self.zero_point + rshr(line, self.shift)
        return np.asarray(np.clip(scaled, self.low, self.high).astype(self.dtype.numpy))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_shift(self.fine, 0, 8)
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_dtype(output, self.dtype)
        need_zero_point(output, self.zero_point, "the output")
