"""The one definition of rounding, scaling and saturation of edgec's integer arithmetic.

`firmware/runtime/include/edgec/arithmetic/math.h` says the same in C;
`tests/unit/base/test_fixedpoint.py` compares the two on all edges and a large random set.  Nothing
else in the project rounds.

All rounding is *half up*: ``rshr(x, n) = floor((x + 2**(n-1)) / 2**n)``, a single rounding.  Two
roundings in a row (as gemmlowp's doubling multiply does) differ from it in about 4 % of
requantizations, so a mix would be a bug even where each is "correct".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import QuantizationError

INT8_MIN, INT8_MAX = -128, 127
INT16_MIN, INT16_MAX = -(2**15), 2**15 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
SHIFT_MIN, SHIFT_MAX = 1, 62
"""Legal total right shifts of a requantization."""
PRE_SHIFT_MAX = 16
"""Largest right shift of an accumulator before it is cut to 16 bits."""
PREFERRED_SHIFT = 32
"""A right shift of 32 is one SMMULR on cores with DSP: the product's high word, rounded."""


def rshr(x: npt.ArrayLike, shift: int) -> Array:
    """Arithmetic right shift by `shift` >= 0 bits, rounded half up; int64 in, int64 out."""
    value = np.asarray(x, dtype=np.int64)
    if shift == 0:
        return value
    return np.asarray((value + (np.int64(1) << np.int64(shift - 1))) >> np.int64(shift))


def requantize(acc: npt.ArrayLike, multiplier: npt.ArrayLike, shift: int) -> Array:
    """``rshr(acc * multiplier, shift)``, exact in 64 bits.

    Args:
        acc: int32 range, any shape.
        multiplier: int32, magnitude below 2^31, broadcast against `acc`.
        shift: total right shift, 1..62.

    Returns:
        int64 array, not yet saturated.
    """
    product = np.asarray(acc, dtype=np.int64) * np.asarray(multiplier, dtype=np.int64)
    return rshr(product, shift)


def saturate(x: npt.ArrayLike, low: int = INT8_MIN, high: int = INT8_MAX) -> Array:
    """Clamp to [low, high]."""
    return np.clip(np.asarray(x, dtype=np.int64), low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Requant:
    """Fixed-point form of real factors: ``factor ~= multiplier * 2**-shift``.

    Attributes:
        multiplier: int32 [C] (or [1]), magnitude below 2^31.
        shift: total right shift shared by all channels, 1..62.

    One shift serves a whole layer, so that it is a constant in the generated C and needs no table;
    `from_real` says why that loses nothing.
    """

    multiplier: Array
    shift: int

    @classmethod
    def from_real(cls, factors: npt.ArrayLike, acc_bound: int) -> Requant:
        """The fixed-point form of `factors` for accumulators with |acc| <= `acc_bound`.

        The error of a result is at most ``acc_bound * 2**-(shift+1)`` output steps plus the final
        rounding.  The shift is 32 whenever that keeps the first term below 2^-9 of a step and the
        multipliers below 2^31; otherwise as much larger as precision asks, or as much smaller as
        the largest factor forces.

        Args:
            factors: float64 [C], finite.
            acc_bound: largest magnitude of an accumulator, in integers.

        Raises:
            QuantizationError: a factor is not finite or 2^30 or more.
        """
        real = np.atleast_1d(np.asarray(factors, dtype=np.float64))
        if not np.all(np.isfinite(real)):
            raise QuantizationError("a rescaling factor is not finite; check the model's scales")
        largest = float(np.max(np.abs(real), initial=0.0))
        if largest >= 2.0**30:
            raise QuantizationError(
                f"a rescaling factor of {largest:.3g} is too large for 32-bit integers",
                hint="an output scale is far smaller than its input scale; recalibrate",
            )
        wanted = max(PREFERRED_SHIFT, ceil_log2(max(acc_bound, 1)) + 8)
        # frexp: largest = m * 2**e with m in [0.5, 1), so largest * 2**(31-e) < 2**31; the second
        # step back covers a mantissa that rounds up to 2**31 itself.
        limit = 31 - math.frexp(largest)[1] if largest > 0 else SHIFT_MAX
        shift = max(SHIFT_MIN, min(wanted, limit, SHIFT_MAX))
        multiplier = round_half_up(real * 2.0**shift)
        if np.any(np.abs(multiplier) > INT32_MAX):
            shift -= 1
            multiplier = round_half_up(real * 2.0**shift)
        return cls(frozen(multiplier, np.int32), shift)

    def apply(self, acc: npt.ArrayLike) -> Array:
        """`requantize` with this multiplier and shift."""
        return requantize(acc, self.multiplier, self.shift)


def ceil_log2(x: float) -> int:
    """The least n with ``x <= 2**n``, for x > 0."""
    fraction, exponent = math.frexp(x)
    return exponent - 1 if fraction == 0.5 else exponent


def floor_log2(x: float) -> int:
    """The largest n with ``2**n <= x``, for x > 0."""
    return math.frexp(x)[1] - 1


def round_half_up(x: npt.ArrayLike) -> Array:
    """Nearest integer of finite float64 values, halves up; int64.

    The rounding of everything computed offline: weights, biases, multipliers, tables.
    """
    return np.floor(np.asarray(x, dtype=np.float64) + 0.5).astype(np.int64)


def quantize_array(
    x: npt.ArrayLike, scale: float, zero_point: int, low: int = INT8_MIN, high: int = INT8_MAX
) -> Array:
    """Nearest int8 code of real values: ``saturate(round_half_up(x / scale) + zero_point)``.

    Args:
        x: float, any shape, finite.

    Returns:
        int8, same shape.
    """
    scaled = np.asarray(x, dtype=np.float64) / scale
    codes = round_half_up(np.clip(scaled, -(2.0**31), 2.0**31)) + zero_point
    return np.asarray(np.clip(codes, low, high), np.int8)


def requantize16x15(acc: npt.ArrayLike, multiplier: npt.ArrayLike, pre: int, shift: int) -> Array:
    """``rshr(sat16(rshr(acc, pre)) * multiplier, shift)``: 32 bits suffice for every step.

    Args:
        acc: int32 with ``|acc| + 2**(pre-1) < 2**31``, any shape.
        multiplier: magnitude up to 32767, broadcast against `acc`.
        pre: right shift of the accumulator, 0..16.
        shift: right shift of the product, 1..30.

    Returns:
        int64 array, not yet saturated.
    """
    narrow = saturate(rshr(acc, pre), INT16_MIN, INT16_MAX)
    return rshr(narrow * np.asarray(multiplier, np.int64), shift)


@dataclass(frozen=True, slots=True, eq=False)
class Requant16x15:
    """Fixed-point form of real factors: ``factor ~= multiplier * 2**-(pre_shift + shift)``.

    Attributes:
        multiplier: int16 [C], in [-32767, 32767].
        pre_shift: right shift of the accumulator before it is cut to 16 bits, 0..16.
        shift: right shift of the product, 1..30.
    """

    multiplier: Array
    pre_shift: int
    shift: int

    @classmethod
    def from_real(cls, factors: npt.ArrayLike, acc_bound: npt.ArrayLike, reach: float) -> Self:
        """The fixed-point form of `factors`, with the least pre-shift that loses no output.

        No result within +-`reach` saturates on its way through 16 bits, and no accumulator within
        `acc_bound`.  The largest multiplier has 15 bits.

        Args:
            factors: float64 [C], finite, not all 0.
            acc_bound: largest magnitude of an accumulator, one number or [C].
            reach: largest magnitude of a result that must come through, in output steps.

        Raises:
            QuantizationError: a factor is not finite, or out of the range of the shifts.
        """
        real = np.abs(np.atleast_1d(np.asarray(factors, dtype=np.float64)))
        if not np.all(np.isfinite(real)) or not real.max() > 0:
            raise QuantizationError("a rescaling factor is not finite, or all are 0")
        with np.errstate(divide="ignore"):
            needed = np.minimum(reach / real, np.asarray(acc_bound, np.float64)) / INT16_MAX
        pre = max(0, ceil_log2(max(float(needed.max()), 1.0)))
        total = 15 - math.frexp(float(real.max()))[1]
        if round_half_up(real.max() * 2.0**total) > INT16_MAX:
            total -= 1
        # A factor far below 2^-30 makes every output 0 or so: coarser steps lose nothing then.
        shift = min(total - pre, 30)
        if pre > PRE_SHIFT_MAX or shift < 1:
            raise QuantizationError(
                f"a rescaling factor of {real.max():.3g} does not fit 16 by 15 bits",
                hint="an output scale is far from what its inputs give; recalibrate",
            )
        multiplier = round_half_up(np.atleast_1d(factors) * 2.0 ** (pre + shift))
        return cls(frozen(multiplier, np.int16), pre, shift)

    @property
    def factors(self) -> Array:
        """The real factors that the fixed-point numbers stand for; float64 [C]."""
        scaled: Array = self.multiplier.astype(np.float64) * 2.0 ** -(self.pre_shift + self.shift)
        return scaled

    def apply(self, acc: npt.ArrayLike) -> Array:
        """`requantize16x15` with these numbers."""
        return requantize16x15(acc, self.multiplier, self.pre_shift, self.shift)
