"""Logarithm of softmax over the last axis."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, rshr
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, bit_length, int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_shift, need_zero_point
from edgec.ir.qops.lut import LUT_SIZE
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.shapes import need

LOG_BITS = 16
"""Fraction bits of a logarithm."""
_DISTANCE = 255


@dataclass(frozen=True, slots=True)
class QLogSoftmax(IntegerOperator):
    """x [..., N], table int32 const [256]; over the last axis.

    ``S = sum table[max(x) - x[i]]`` with ``table[d] = round(2**k * exp(-scale_x * d))`` as in
    `QSoftmax`; ``L = log2(S) - k`` with `LOG_BITS` fraction bits, found by `binary_logarithm`;
    ``y[i] = clamp(zero_point + rshr((x[i] - max(x)) * multiplier - rshr(L * log_multiplier,
    LOG_BITS), shift))``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        table: T = field(metadata=parameter(DType.INT32))

    multiplier: int
    log_multiplier: int
    shift: int
    table_bits: int
    zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.table == (LUT_SIZE,), "a table has 256 entries")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        largest = x.max(axis=-1, keepdims=True)
        total = accumulators(inputs.table.wide[largest - x].sum(axis=-1, keepdims=True))
        logarithm = binary_logarithm(total) - (self.table_bits << LOG_BITS)
        summand = rshr(logarithm * self.log_multiplier, LOG_BITS)
        terms = accumulators((x - largest) * self.multiplier - summand)
        return int8_clamped(self.zero_point + rshr(terms, self.shift), self.low, self.high)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        most = (inputs.x.shape[-1]).bit_length() * self.log_multiplier
        reach = _DISTANCE * self.multiplier + most + (1 << self.shift)
        return {"the difference of logarithms": float(min(reach, 2 * INT32_MAX))}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.low, self.high)
        need_shift(self.shift)
        need_zero_point(output, self.zero_point, "the output")


def binary_logarithm(values: Array) -> Array:
    """The logarithm to base 2 of int64 numbers in [1, 2^31], rounded down digit by digit.

    With ``m = v << (32 - bitlen(v))`` each digit is whether ``(m * m) >> 31`` has 33 bits; m is
    then that square, halved if it has.
    """
    power = bit_length(values) - 1
    mantissa = (values << (31 - power)).astype(np.uint64)
    digits = np.zeros_like(values)
    for _ in range(LOG_BITS):
        square = (mantissa * mantissa) >> np.uint64(31)
        digit = square >> np.uint64(32)
        digits = (digits << 1) | digit.astype(np.int64)
        mantissa = square >> digit
    return np.asarray((power << LOG_BITS) | digits)
