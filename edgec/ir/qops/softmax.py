"""Softmax over the last axis.

Logarithm of softmax over the last axis.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, rshr
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, bit_length, int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_dtype, need_shift, need_zero_point
from edgec.ir.qops.functions import Entries
from edgec.ir.qops.operands import CODES, Operand, parameter, table, tensor, value
from edgec.ir.qops.softmax_rules import SoftmaxRule
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QSoftmax(IntegerOperator):
    """x [..., N], over the last axis; exponentials, reciprocals: the tables of the rule, const.

    ``y = rule(x)``, in the type of x, which is the rule's.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))
        exponentials: T | None = field(default=None, metadata=table(DType.INT32, DType.INT16))
        reciprocals: T | None = field(default=None, metadata=table(DType.INT16))

        @property
        def tables(self) -> tuple[T, ...]:
            """The tables that are there."""
            return tuple(t for t in (self.exponentials, self.reciprocals) if t is not None)

    rule: SoftmaxRule

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        sizes = tuple((entries,) for entries in self.rule.TABLES)
        need(inputs.tables == sizes, f"tables of {self.rule.TABLES} entries are needed")
        longest = self.rule.LONGEST
        fits = longest is None or inputs.x[-1] <= longest
        need(fits, f"a row has more than {longest} elements")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        tables = tuple(each.wide for each in inputs.tables)
        return self.rule.apply(inputs.x.wide, tables).astype(self.rule.DTYPE.numpy)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return self.rule.bounds(inputs.x.shape[-1])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.rule.verify(output)
        for item in (inputs.x, output):
            need_dtype(item, self.rule.DTYPE)


LOG_BITS = 16
"""Fraction bits of a logarithm."""
_DISTANCE = 255


@dataclass(frozen=True, slots=True)
class QLogSoftmax(IntegerOperator):
    """x [..., N], table int32 const [256]; over the last axis.

    ``S = sum table[max(x) - x[i]]`` with ``table[d] = round(2**k * exp(-scale_x * d))`` as in
    `Quotients`; ``L = log2(S) - k`` with `LOG_BITS` fraction bits, found by `binary_logarithm`;
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
        need(inputs.table == (Entries.COUNT,), "a table has 256 entries")
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
