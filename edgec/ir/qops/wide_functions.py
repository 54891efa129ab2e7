"""Functions of 16-bit tensors by interpolated tables, as TensorFlow Lite Micro computes them.

Tensors are int16 with zero point 0; outputs have the scale 2^-15.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, rshr, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import bit_length
from edgec.ir.qops.base import IntegerOperator, need_dtype, need_shift
from edgec.ir.qops.operands import Operand, table, value
from edgec.ir.qops.wide import Factor
from edgec.ir.shapes import need

SIGMOID_ENTRIES = 256
LOOKUP_ENTRIES = 513
"""Entries of a table over all int16 numbers, one each 128 numbers and one for the last."""


@dataclass(frozen=True, slots=True)
class QWideSigmoid(IntegerOperator):
    """The logistic function, or tanh; table uint16 const [256] of the former at i/24, 0.16.

    ``t = (x * multiplier + 2^(shift-1)) >> shift`` in steps of 2^-12 / 3; the table is interpolated
    at |t| in steps of 2^9 (logistic) or 2^8 (tanh(t) = 2 logistic(2t) - 1).

    Bounds: 0 <= multiplier <= 32767; 0 <= shift <= 30.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops (logistic.h, tanh.h).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        table: T = field(metadata=table(DType.UINT16))

    tanh: bool
    multiplier: int
    shift: int

    @property
    def step_bits(self) -> int:
        """Bits of t between two entries of the table."""
        return 8 if self.tanh else 9

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (SIGMOID_ENTRIES,), "a table has 256 entries")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        scaled = rshr(inputs.x.wide * self.multiplier, self.shift)
        magnitude, entries, bits = np.abs(scaled), inputs.table.wide, self.step_bits
        step = np.minimum(magnitude >> bits, SIGMOID_ENTRIES - 2)
        low, high = entries[step], entries[step + 1]
        between = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low)
        ended = (magnitude >> bits) >= SIGMOID_ENTRIES - 1
        if self.tanh:
            result = np.where(ended, 0xFFFF << 8, between) - (1 << 23)
            return (np.where(scaled >= 0, result + 128, 127 - result) >> 8).astype(np.int16)
        result = np.where(ended, INT16_MAX << 10, between)
        whole = (1 << 25) - result + (1 << 9) - 1
        return (np.where(scaled >= 0, result + (1 << 9), whole) >> 10).astype(np.int16)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(0 <= self.multiplier <= INT16_MAX, f"bad multiplier {self.multiplier}")
        need_shift(self.shift, 0, 30)
        need_dtype(output, DType.INT16)


@dataclass(frozen=True, slots=True)
class QWideSoftmax(IntegerOperator):
    """x [..., N]; over the last axis; tables int16 const [513]: exp of -10 to 0, 1/(1+x) of 0 to 1.

    ``E = lookup(exponentials, sat16(factor(x - max(x)) + 32767))`` in Q0.15; with S = sum E and n
    the bits of S, ``r = lookup(reciprocals, sat16(rshr(S << (31 - n), 14) - 98304))`` and
    ``y = clamp(rshr(E * r, n - 1), 0, 32767)``.

    Bounds: 1 <= N <= 65535.

    Source: TensorFlow Lite, kernels/internal/reference/softmax.h (SoftmaxInt16).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        exponentials: T = field(metadata=table(DType.INT16))
        reciprocals: T = field(metadata=table(DType.INT16))

    factor: Factor

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        tables = inputs.exponentials == inputs.reciprocals == (LOOKUP_ENTRIES,)
        need(tables, "a table has 513 entries")
        need(1 <= inputs.x[-1] < 1 << 16, "a row has more than 65535 elements")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        distance = self.factor.of(x - x.max(axis=-1, keepdims=True))
        exponentials = _lookup(inputs.exponentials.wide, distance + INT16_MAX)
        total = exponentials.sum(axis=-1, keepdims=True)
        bits = bit_length(total)
        fraction = rshr(np.asarray(total << (31 - bits)), 14) - (1 << 15) - (1 << 16)
        inverse = _lookup(inputs.reciprocals.wide, fraction)
        y = (exponentials * inverse + (1 << (bits - 2))) >> (bits - 1)
        return saturate(y, 0, INT16_MAX).astype(np.int16)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.factor.verify()
        need_dtype(output, DType.INT16)


def _lookup(entries: Array, x: Array) -> Array:
    """The interpolated table at numbers that are saturated to int16."""
    near = saturate(x, INT16_MIN, INT16_MAX)
    step = 256 + (near >> 7)
    slope = entries[step + 1] - entries[step]
    return np.asarray(entries[step] + ((slope * (near & 127) + 64) >> 7))
