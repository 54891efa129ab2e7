"""Exponentials of distances between logits, and what a row of them is divided by.

`QAttention` defines both; the softmax by octaves shares them.

Rules by which a softmax becomes codes: each has its definition, its tables and its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    requantize,
    round_half_up,
    rshr,
    saturate,
)
from edgec.base.tflite_arithmetic import high_product, reciprocal, rshr_away, scaled_twice
from edgec.ir.graph import Value
from edgec.ir.qops.arithmetic import accumulators, bit_length, half_step, rshr32, within32
from edgec.ir.qops.base import need_clamp, need_shift, need_zero_point
from edgec.ir.qops.functions import Entries
from edgec.ir.shapes import need

DISTANCE_BITS = 11
"""Fraction bits of a distance in octaves."""
DISTANCE_SHIFT = 15
"""Right shift of a logit's distance times its multiplier."""
_SEGMENT_BITS = 6
_SEGMENTS = 1 << (DISTANCE_BITS - _SEGMENT_BITS)
_MOST_OCTAVES = 27
"""Largest right shift of an exponential."""


def exp_table() -> Array:
    """``round(32767 * 2**(-i/32))`` for i = 0..32; int64 [33]."""
    return round_half_up(INT16_MAX * 2.0 ** (-np.arange(_SEGMENTS + 1) / _SEGMENTS))


def exponentials(logits: Array, valid: Array, multiplier: int, limit: int, bits: int) -> Array:
    """E of `QAttention`.

    Args:
        logits: int64 [..., M].
        valid: bool [..., M]: the keys that take part.
        multiplier: distance_multiplier of the head.
        limit: distance_limit of the head.
        bits: exp_bits.

    Returns:
        int64 [..., M]; 0 for the keys that take no part.
    """
    table = exp_table()
    highest = np.where(valid, logits, np.iinfo(np.int64).min).max(axis=-1, keepdims=True)
    distance = np.where(valid, np.minimum(within32(np.where(valid, highest - logits, 0)), limit), 0)
    octaves = rshr32(distance * multiplier, DISTANCE_SHIFT)
    fraction = octaves & ((1 << DISTANCE_BITS) - 1)
    index, rest = fraction >> _SEGMENT_BITS, fraction & ((1 << _SEGMENT_BITS) - 1)
    chord = rshr32((table[index] - table[index + 1]) * rest, _SEGMENT_BITS)
    exact = rshr32(table[index] - chord, (octaves >> DISTANCE_BITS) + 15 - bits)
    return np.where(valid, exact, 0)


def exponent_and_divisor(total: Array) -> tuple[Array, Array]:
    """X and B of `QAttention` from S int64; where S is 0, x is 0 and B is 1."""
    exponent = np.maximum(bit_length(total) - 1, 0)
    mantissa = np.where(
        exponent >= 15, total >> np.maximum(exponent - 15, 0), total << np.maximum(15 - exponent, 0)
    )
    return exponent, np.maximum(mantissa, 1)


def distance_bounds(farthest: float, exp_bits: int) -> dict[str, float]:
    """Bounds of the steps from a distance to its exponential.

    Args:
        farthest: the largest distance times its multiplier.
        exp_bits: bits of the exponentials.
    """
    octaves = int(farthest / 2.0 ** (DISTANCE_SHIFT + DISTANCE_BITS)) + 16 - exp_bits
    return {
        "a distance": farthest + half_step(DISTANCE_SHIFT),
        "a shift": 31.0 if octaves <= _MOST_OCTAVES else float("inf"),
    }


def need_exp_bits(bits: int) -> None:
    """Check the width of exponentials.

    Raises:
        ValueError: it is out of range.
    """
    need(12 <= bits <= 15, f"bad width {bits} of exponentials")


LOOKUP_ENTRIES = 513
"""Entries of a table over all int16 numbers, one each 128 numbers and one for the last."""
_SUM_BITS = 12
"""Integer bits of the sum of a row, Q12.19."""
_OUTPUT_BITS = 8


@dataclass(frozen=True, slots=True)
class Factor:
    """``scaled_twice(x, multiplier, shift)`` (`edgec.base.tflite_arithmetic`), x within 2^16.

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
class Quotients:
    """A table of exponentials int32 [256] and one division an element; int8.

    ``E[i] = table[max(x) - x[i]]`` with ``table[d] = round(2**k * exp(-scale_x * d))`` and k such
    that the sum of N entries stays below 2^31; ``D = max(requantize(sum E, multiplier, shift), 1)``
    (the sum in output steps); ``y[i] = min(max(zero_point + (E[i] + D // 2) // D, low),
    high)``, unsigned 32-bit division.
    """

    DTYPE: ClassVar[DType] = DType.INT8
    """Type of input and output."""
    TABLES: ClassVar[tuple[int, ...]] = (Entries.COUNT,)
    """Entries of each table."""
    LONGEST: ClassVar[int | None] = None
    """Most elements of a row."""

    multiplier: int
    shift: int
    zero_point: int
    low: int = INT8_MIN
    high: int = INT8_MAX

    def apply(self, x: Array, tables: tuple[Array, ...]) -> Array:
        """The softmax over the last axis.

        Args:
            x: codes, int64 [..., N].
            tables: int64, as many as `TABLES` says.

        Returns:
            Codes, int64 [..., N].
        """
        powers = tables[0][x.max(axis=-1, keepdims=True) - x]
        total = accumulators(powers.sum(axis=-1, keepdims=True))
        divisor = np.maximum(requantize(total, self.multiplier, self.shift), 1)
        quotient = (powers + divisor // 2) // divisor
        return saturate(self.zero_point + quotient, self.low, self.high)

    def bounds(self, depth: int) -> dict[str, float]:
        """Bounds of the intermediates for rows of `depth` elements."""
        return {}

    def verify(self, output: Value) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_clamp(self.low, self.high)
        need_shift(self.shift)
        need_zero_point(output, self.zero_point, "the output")


@dataclass(frozen=True, slots=True)
class Reciprocal31:
    """Exponentials of 31 bits, table int32 [256], and one reciprocal a row, as TensorFlow Lite
    Micro computes int8; y has scale 1/256, zero point -128.

    ``E[i] = table[max(x) - x[i]]`` in Q0.31, ``S = sum rshr_away(E, 12)`` in Q12.19,
    ``1 / S = r * 2**-(31 + places)`` (`edgec.base.tflite_arithmetic.reciprocal`);
    ``y[i] = min(rshr_away(high_product(r, E[i]), 23 + places) - 128, 127)``.

    Bounds: 0 <= table, table[0] = 2^31 - 1; 1 <= N <= 511, so 2^19 <= S < 2^28 and
    0 <= places <= 8.

    Source: TensorFlow Lite, kernels/internal/reference/softmax.h.
    """

    DTYPE: ClassVar[DType] = DType.INT8
    TABLES: ClassVar[tuple[int, ...]] = (Entries.COUNT,)
    LONGEST: ClassVar[int] = 511
    """Longer rows may add up to more than TensorFlow Lite's kernel admits."""

    def apply(self, x: Array, tables: tuple[Array, ...]) -> Array:
        """As `Quotients.apply`."""
        powers = tables[0][x.max(axis=-1, keepdims=True) - x]
        total = rshr_away(powers, _SUM_BITS).sum(axis=-1, keepdims=True)
        inverse, places = reciprocal(accumulators(np.asarray(total)), _SUM_BITS)
        y = rshr_away(high_product(inverse, powers), 31 - _OUTPUT_BITS + places)
        return saturate(y + INT8_MIN, INT8_MIN, INT8_MAX)

    def bounds(self, depth: int) -> dict[str, float]:
        """As `Quotients.bounds`."""
        return {}

    def verify(self, output: Value) -> None:
        """There are no numbers to check."""


@dataclass(frozen=True, slots=True)
class Octaves:
    """Powers of two and one division a row; int8, y has scale 1/256, zero point -128.

    With D, E, S, x and B of `QAttention` for ``L[j] = x[j]``:

        R    = (2^30 + B // 2) // B                          2^14 <= R <= 2^15
        y[j] = min(rshr(E[j] * R, x + 7) - 128, 127)

    Bounds: those of `QAttention`, with the elements of a row for M; then 8 <= x + 7 <= 30.
    """

    DTYPE: ClassVar[DType] = DType.INT8
    TABLES: ClassVar[tuple[int, ...]] = ()
    LONGEST: ClassVar[int | None] = None

    distance_multiplier: int
    distance_limit: int
    exp_bits: int

    def apply(self, x: Array, tables: tuple[Array, ...]) -> Array:
        """As `Quotients.apply`."""
        numbers = self.distance_multiplier, self.distance_limit, self.exp_bits
        weights = exponentials(x, np.ones_like(x, np.bool_), *numbers)
        total = within32(weights.sum(axis=-1, keepdims=True))
        exponent, divisor = exponent_and_divisor(total)
        inverse = (2**30 + divisor // 2) // divisor
        y = rshr32(within32(weights * inverse), exponent + 7) + INT8_MIN
        return np.asarray(np.minimum(y, INT8_MAX))

    def bounds(self, depth: int) -> dict[str, float]:
        """As `Quotients.bounds`."""
        farthest = float(self.distance_multiplier * self.distance_limit)
        return {
            **distance_bounds(farthest, self.exp_bits),
            "the sum of exponentials": 128.0 * depth * 2.0**self.exp_bits,
            "the normalised output": 2.0**self.exp_bits * 2.0**15 + half_step(30),
        }

    def verify(self, output: Value) -> None:
        """As `Quotients.verify`."""
        need_exp_bits(self.exp_bits)


@dataclass(frozen=True, slots=True)
class Interpolated:
    """Tables int16 [513] of exp from -10 to 0 and of 1/(1+x) from 0 to 1, as TensorFlow Lite Micro
    computes int16; y has scale 2^-15.

    ``E = lookup(exponentials, sat16(factor(x - max(x)) + 32767))`` in Q0.15; with S = sum E and n
    the bits of S, ``r = lookup(reciprocals, sat16(rshr(S << (31 - n), 14) - 98304))`` and
    ``y = clamp(rshr(E * r, n - 1), 0, 32767)``.

    Bounds: 1 <= N <= 65535.

    Source: TensorFlow Lite, kernels/internal/reference/softmax.h (SoftmaxInt16).
    """

    DTYPE: ClassVar[DType] = DType.INT16
    TABLES: ClassVar[tuple[int, ...]] = (LOOKUP_ENTRIES, LOOKUP_ENTRIES)
    LONGEST: ClassVar[int] = (1 << 16) - 1

    factor: Factor

    def apply(self, x: Array, tables: tuple[Array, ...]) -> Array:
        """As `Quotients.apply`."""
        distance = self.factor.of(x - x.max(axis=-1, keepdims=True))
        powers = _lookup(tables[0], distance + INT16_MAX)
        total = powers.sum(axis=-1, keepdims=True)
        bits = bit_length(total)
        fraction = rshr(np.asarray(total << (31 - bits)), 14) - (1 << 15) - (1 << 16)
        inverse = _lookup(tables[1], fraction)
        return saturate((powers * inverse + (1 << (bits - 2))) >> (bits - 1), 0, INT16_MAX)

    def bounds(self, depth: int) -> dict[str, float]:
        """As `Quotients.bounds`."""
        return {}

    def verify(self, output: Value) -> None:
        """As `Quotients.verify`."""
        self.factor.verify()


def _lookup(entries: Array, x: Array) -> Array:
    """The interpolated table at numbers that are saturated to int16."""
    near = saturate(x, INT16_MIN, INT16_MAX)
    step = 256 + (near >> 7)
    slope = entries[step + 1] - entries[step]
    return np.asarray(entries[step] + ((slope * (near & 127) + 64) >> 7))


SoftmaxRule = Quotients | Reciprocal31 | Octaves | Interpolated
"""Every rule."""
