"""Numpy arithmetic that the oracles of integer operators share, with checks of every width.

Two operands brought to one finer scale, and a result brought back, each rounded twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, INT32_MIN, saturate
from edgec.base.tflite_arithmetic import scaled_twice
from edgec.ir.qops.base import LIMITS, need_clamp, need_shift
from edgec.ir.shapes import need


def accumulators(values: Array) -> Array:
    """`values` as int64, after a check that an int32 accumulator holds them.

    Args:
        values: int64, or float64 that are whole numbers below 2^53.

    Raises:
        InternalError: they do not fit; the quantizer has promised that they do.
    """
    if values.size and not (values.min() >= INT32_MIN and values.max() <= INT32_MAX):
        raise InternalError("an accumulator does not fit 32 bits")
    return values.astype(np.int64)


def within32(values: Array) -> Array:
    """`values` as int64, after a check that they lie within +-(2^31 - 1).

    Args:
        values: int64, or float64 that are whole numbers below 2^53.

    Raises:
        InternalError: they do not.
    """
    if values.size and max(values.max(), -values.min()) > INT32_MAX:
        raise InternalError("an intermediate does not fit 32 bits")
    return values.astype(np.int64)


def rshr32(values: Array, shift: Array | int) -> Array:
    """`fixedpoint.rshr` in 32 bits: the sum before the shift is checked, too.

    Args:
        values: int64, any shape.
        shift: 0..30, broadcast against `values`.

    Raises:
        InternalError: the sum does not fit.
    """
    amount = np.asarray(shift, np.int64)
    half = np.where(amount > 0, np.int64(1) << np.maximum(amount - 1, 0), 0)
    return np.asarray(within32(values + half) >> amount)


def int8_clamped(values: Array, low: int, high: int) -> Array:
    """Clamped to [low, high], a part of int8; int8."""
    return saturate(values, low, high).astype(np.int8)


def bit_length(values: Array) -> Array:
    """Number of bits of int64 values in [0, 2^53); 0 for 0."""
    return np.asarray(np.frexp(values.astype(np.float64))[1].astype(np.int64))


def half_step(shift: int) -> int:
    """The addend that makes a right shift by `shift` bits round half up."""
    return 1 << (shift - 1) if shift > 0 else 0


def floor_root(values: Array) -> Array:
    """The floor of the square root of int64 values in [0, 2^62)."""
    root = np.sqrt(values.astype(np.float64)).astype(np.int64)
    # A double is off by one at most, where values have more than 53 bits.
    root -= root * root > values
    root += (root + 1) * (root + 1) <= values
    return np.asarray(root)


@dataclass(frozen=True, slots=True)
class TfliteSumNumbers:
    """The numbers of a function f of two tensors with scales of their own.

    ``y = clamp(zy + twice(f(A, B), y))`` with ``A = twice((a - a_zero_point) << bits, a)``, B
    alike; ``twice(x, k) = scaled_twice(x, k_multiplier, -k_right)``
    (`edgec.base.tflite_arithmetic`).

    Bounds: 0 <= multiplier < 2^31; 0 <= right <= 31.

    Attributes:
        a_zero_point, b_zero_point, y_zero_point: codes that stand for 0 in a, b and y.
        a_multiplier, a_right: the factor of the steps of a; b and y alike.
        low, high: bounds of y.
        bits: fraction bits of the steps.
        dtype: element type of y, INT8 or INT16.
    """

    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    a_right: int
    b_multiplier: int
    b_right: int
    y_multiplier: int
    y_right: int
    y_zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX
    bits: int = 20
    dtype: DType = DType.INT8

    def fine_steps(self, a: Array, b: Array) -> tuple[Array, Array]:
        """A and B of two arrays of codes; int64, in their shapes."""
        operands = (
            (a, self.a_zero_point, self.a_multiplier, self.a_right),
            (b, self.b_zero_point, self.b_multiplier, self.b_right),
        )
        first, second = (
            scaled_twice((codes.astype(np.int64) - zero_point) << self.bits, multiplier, -right)
            for codes, zero_point, multiplier, right in operands
        )
        return first, second

    def step_bounds(self, a: float, b: float) -> tuple[float, float]:
        """Bounds of |A| and |B| from the largest |code - zero point| of a and b."""
        operands = (a, self.a_multiplier, self.a_right), (b, self.b_multiplier, self.b_right)
        first, second = (
            span * 2.0**self.bits * multiplier * 2.0 ** (-31 - right) + 1.0
            for span, multiplier, right in operands
        )
        return first, second

    def codes(self, result: Array) -> Array:
        """The codes of results f(A, B), int64 of any shape; of `dtype`."""
        scaled = self.y_zero_point + scaled_twice(result, self.y_multiplier, -self.y_right)
        return saturate(scaled, self.low, self.high).astype(self.dtype.numpy)

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        for right in (self.a_right, self.b_right, self.y_right):
            need_shift(right, 0, 31)
        for multiplier in (self.a_multiplier, self.b_multiplier, self.y_multiplier):
            need(0 <= multiplier <= INT32_MAX, f"bad multiplier {multiplier}")

    def need_halves(self) -> None:
        """Check that neither factor of the operands exceeds 1/2.

        Raises:
            ValueError: one does.
        """
        for right, multiplier in (
            (self.a_right, self.a_multiplier),
            (self.b_right, self.b_multiplier),
        ):
            need(multiplier <= 1 << (30 + right), "a factor above 1/2")
