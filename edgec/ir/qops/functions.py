"""Functions of each element of one tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, INT32_MAX, rshr, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, half_step
from edgec.ir.qops.base import (
    LIMITS,
    IntegerOperator,
    need_clamp,
    need_dtype,
    need_shift,
    need_zero_point,
)
from edgec.ir.qops.forms import LONGEST_SHIFT, Monotone31, Requantization, Rescale16x15, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import CODES, MOVABLE, Operand, largest_code, table, tensor, value
from edgec.ir.qops.residual import largest_shift, need_shifts
from edgec.ir.qops.tflite_forms import TwoRoundings31
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Entries:
    """An entry for each int8 code: ``y = table[x + 128]``; x and table int8.

    Every element function of one variable, rescaling included.
    """

    X: ClassVar[DType] = DType.INT8
    TABLE: ClassVar[DType] = DType.INT8
    COUNT: ClassVar[int] = 256

    @property
    def dtype(self) -> DType:
        """Element type of y."""
        return DType.INT8

    def apply(self, x: Array, entries: Array) -> Array:
        """The function of codes, int64 of any shape; int64."""
        return np.asarray(entries[x + self.COUNT // 2])

    def verify(self, output: Value) -> None:
        """Check the numbers; there are none."""


@dataclass(frozen=True, slots=True)
class Line:
    """Straight lines between entries at each 128th int16 code; table int16 [513].

    With ``n = clamp(x << near, -32768, 32767)``, ``i = 256 + (n >> 7)`` and ``f = n & 127``,
    ``y = clamp(zy + rshr((table[i] << 7) + f * (table[i+1] - table[i]), 7 + fine))``: the entries
    are steps of the output with `fine` more bits, and with `near` all of them are for codes around
    0, beyond which the function does not change.
    """

    X: ClassVar[DType] = DType.INT16
    TABLE: ClassVar[DType] = DType.INT16
    COUNT: ClassVar[int] = 513
    """One each 128 codes, and one for the last."""
    STEP_BITS: ClassVar[int] = 7
    """Bits of a code between two entries."""

    fine: int
    zero_point: int
    low: int
    high: int
    dtype: DType
    near: int = 0

    @property
    def shift(self) -> int:
        """Right shift of an interpolated number."""
        return self.STEP_BITS + self.fine

    def apply(self, x: Array, entries: Array) -> Array:
        """The function of codes, int64 of any shape; int64."""
        bits, x = self.STEP_BITS, saturate(x << self.near, INT16_MIN, INT16_MAX)
        step, between = (self.COUNT >> 1) + (x >> bits), x & ((1 << bits) - 1)
        line = (entries[step] << bits) + between * (entries[step + 1] - entries[step])
        return saturate(self.zero_point + rshr(line, self.shift), self.low, self.high)

    def rounded(self, entries: Array) -> Array:
        """Codes of entries, int64, before the bounds; what lies between two is between theirs."""
        return self.zero_point + rshr(entries, self.fine)

    def verify(self, output: Value) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_shift(self.fine, 0, 8)
        need_shift(self.near, 0, 8)
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_zero_point(output, self.zero_point, "the output")


@dataclass(frozen=True, slots=True)
class Logistic:
    """TensorFlow Lite's logistic function of int16, or tanh, whose output has the scale 2^-15.

    The table, uint16 [256], has the former at i/24, in 0.16.
    ``t = (x * multiplier + 2^(shift-1)) >> shift`` in steps of 2^-12 / 3; the table is interpolated
    at |t| in steps of 2^9 (logistic) or 2^8 (tanh(t) = 2 logistic(2t) - 1).

    Bounds: 0 <= multiplier <= 32767; 0 <= shift <= 30.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops (logistic.h, tanh.h).
    """

    X: ClassVar[DType] = DType.INT16
    TABLE: ClassVar[DType] = DType.UINT16
    COUNT: ClassVar[int] = 256

    tanh: bool
    multiplier: int
    shift: int

    @property
    def dtype(self) -> DType:
        """Element type of y."""
        return DType.INT16

    def apply(self, x: Array, entries: Array) -> Array:
        """The function of codes, int64 of any shape; int64."""
        scaled = rshr(x * self.multiplier, self.shift)
        magnitude, bits = np.abs(scaled), 8 if self.tanh else 9
        step = np.minimum(magnitude >> bits, self.COUNT - 2)
        low, high = entries[step], entries[step + 1]
        between = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low)
        ended = (magnitude >> bits) >= self.COUNT - 1
        if self.tanh:
            result = np.where(ended, 0xFFFF << 8, between) - (1 << 23)
            return np.asarray(np.where(scaled >= 0, result + 128, 127 - result) >> 8)
        result = np.where(ended, INT16_MAX << 10, between)
        whole = (1 << 25) - result + (1 << 9) - 1
        return np.asarray(np.where(scaled >= 0, result + (1 << 9), whole) >> 10)

    def verify(self, output: Value) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need(0 <= self.multiplier <= INT16_MAX, f"bad multiplier {self.multiplier}")
        need_shift(self.shift, 0, 30)


TableRule = Entries | Line | Logistic
"""The ways to read a function from a table."""


@dataclass(frozen=True, slots=True)
class QLut(IntegerOperator):
    """x, and the table of a function of one variable: the rule has the definition."""

    EACH_ELEMENT: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        table: T = field(metadata=table(DType.INT8, DType.INT16, DType.UINT16))

    rule: TableRule = Entries()

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (self.rule.COUNT,), f"a table has {self.rule.COUNT} entries")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        y = self.rule.apply(inputs.x.wide, inputs.table.wide)
        return y.astype(self.rule.dtype.numpy)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        rule = self.rule
        need((inputs.x.dtype, inputs.table.dtype) == (rule.X, rule.TABLE), "a table of other types")
        need_dtype(output, rule.dtype)
        rule.verify(output)


@dataclass(frozen=True, slots=True)
class QPRelu(IntegerOperator):
    """x [..., C], slope int32 or int16 const [C].

    ``y = output(x - zx)`` with `multiplier` where ``x >= zx``, and elsewhere

    * with the multiplier ``slope[c]``, int32, or
    * with `below`, ``y = below((x - zx) * slope[c])`` with `below_multiplier`, as TensorFlow Lite
      computes it; the slopes are codes less their zero point, within +-255.

    Source: TensorFlow Lite, kernels/internal/reference/prelu.h (BroadcastPrelu4DSlow).
    """

    EACH_ELEMENT: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        slope: T = field(metadata=table(DType.INT16, DType.INT32))

    output: Monotone31
    multiplier: int
    below: TwoRoundings31 | None = None
    below_multiplier: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.slope == inputs.x[-1:], "one slope per channel is needed")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return self.apply(inputs.x.centred, inputs.slope.wide).astype(self.output.dtype.numpy)

    def apply(self, x: Array, slope: Array) -> Array:
        """Codes, int64.

        Args:
            x: codes less their zero point, int64.
            slope: int64, broadcast against `x`.
        """
        if self.below is None:
            return codes(self.output, x, np.where(x >= 0, self.multiplier, slope)).astype(np.int64)
        above = self.output.apply(np.maximum(x, 0), self.multiplier)
        below = self.below.apply(np.minimum(x, 0) * slope, self.below_multiplier)
        return np.where(x >= 0, above, below)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
        wanted = DType.INT32 if self.below is None else DType.INT16
        need(inputs.slope.dtype is wanted, f"the slopes are {inputs.slope.dtype.value}")
        if self.below is not None:
            need_single(self.below, self.below_multiplier, 0, output)


@dataclass(frozen=True, slots=True)
class QRescale(IntegerOperator):
    """x int8 or int16, raw codes, or int32 numbers: ``y = output(bias + x)`` with one multiplier.

    The bias holds the zero point of x, and that of y where the form has none.  With `before` or
    `after`, never both, the form is `Rescale16x15` and k int8 const [C] is a second input, that of
    a stream of int8:

    * before: x is of the stream, ``y = output(bias + (x << k[c]))``.
    * after: y is, ``y = min(max(rshr(a * multiplier, shift + k[c]), low), high)``; shift + k[c] is
      30 at most.
    """

    EACH_ELEMENT: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*MOVABLE))
        k: T | None = field(default=None, metadata=table(DType.INT8))

    output: Requantization
    multiplier: int
    bias: int = 0
    before: bool = False
    after: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.k in (None, inputs.x[-1:]), "a shift a channel is needed")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, output = inputs.x.wide, self.output
        shifts: Array | int = 0 if inputs.k is None else inputs.k.wide
        acc = accumulators(x << shifts if self.before else x) + self.bias
        if isinstance(output, Rescale16x15):
            y = output.apply(acc, self.multiplier, more=shifts if self.after else 0)
        else:
            y = output.apply(acc, self.multiplier)
        return y.astype(output.dtype.numpy)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        if inputs.x.dtype is DType.INT32:
            return self.output.bounds(float(INT32_MAX), float(abs(self.multiplier)))
        most = 0 if inputs.k is None else largest_shift(inputs.k)
        acc = (largest_code(inputs.x.dtype) << (most if self.before else 0)) + abs(self.bias)
        found = self.output.bounds(float(acc), float(abs(self.multiplier)))
        if self.after:
            shift = self._form16x15.shift + most
            found["the rescaled accumulator"] += half_step(shift)
            found["a shift"] = float(shift) if shift <= LONGEST_SHIFT else math.inf
        return found

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        if isinstance(self.output, Rescale16x15):
            need(inputs.x.dtype is not DType.INT32, "16 bits of a number of 32")
            need_single(self.output, self.multiplier, self.bias, output)
        else:
            need_single(self.output, self.multiplier, 0, output)
            need(not (self.before or self.after), "shifts of channels in a form that has none")
            if inputs.x.dtype is DType.INT32:
                need(self.bias == 0, "numbers have no zero point")
            else:
                need_zero_point(inputs.x, -self.bias, "x")
        need(not (self.before and self.after), "shifts before and after")
        need_shifts(inputs.k, self.before or self.after)

    @property
    def _form16x15(self) -> Rescale16x15:
        assert isinstance(self.output, Rescale16x15)
        return self.output
