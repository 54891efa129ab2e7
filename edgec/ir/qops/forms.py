"""Forms of requantization: what turns the accumulator of a layer into codes of its output.

A form is an attribute of a layer, so that one graph may hold layers of several forms.  There is a
small closed set of them, the classes in this file, in `twice` and in `once`; each states its
definition, its oracle, the bounds of its intermediates and its contract.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    PRE_SHIFT_MAX,
    requantize,
    saturate,
)
from edgec.ir.qops.arithmetic import accumulators, half_step, rshr32, within32
from edgec.ir.qops.base import LIMITS, need_clamp, need_shift
from edgec.ir.qops.tflite_forms import Offset31, Once15, TwoRoundings31

LONGEST_SHIFT = 30
"""Largest right shift of a product of 32 bits."""


@dataclass(frozen=True, slots=True)
class Requant31:
    """edgec's single rounding of a product of 32 by 32 bits.

    ``y = min(max(zero_point + requantize(acc, multiplier, shift), low), high)``: the product has 64
    bits, the accumulator any int32 value.

    Bounds: |multiplier| < 2^31; 1 <= shift <= 62.

    Attributes:
        shift: total right shift.
        zero_point: added after the rounding.
        low, high: bounds of y, within `dtype`.
        dtype: INT8, or INT16 where the operator says that it takes both (`qops.mixed`).
    """

    NAME: ClassVar[str] = "31 bits"
    """In reports."""
    MULTIPLIERS: ClassVar[DType] = DType.INT32
    """Type of the multipliers of output channels."""
    LARGEST_MULTIPLIER: ClassVar[int] = INT32_MAX

    shift: int
    zero_point: int = 0
    low: int = INT8_MIN
    high: int = INT8_MAX
    dtype: DType = field(default=DType.INT8, metadata=LATER)

    def scaled(self, acc: npt.ArrayLike, multiplier: npt.ArrayLike) -> Array:
        """The codes before the bounds: int64."""
        return self.zero_point + requantize(acc, multiplier, self.shift)

    def apply(self, acc: Array, multiplier: npt.ArrayLike) -> Array:
        """The codes that accumulators become.

        Args:
            acc: int64, or float64 whole numbers, any shape.
            multiplier: broadcast against `acc`.

        Returns:
            int64 in [low, high].

        Raises:
            InternalError: an accumulator does not fit 32 bits.
        """
        return saturate(self.scaled(accumulators(acc), multiplier), self.low, self.high)

    def bounds(self, acc: float, multiplier: float) -> dict[str, float]:
        """Bounds of the intermediates from the largest magnitudes of what goes in."""
        return {"the accumulator": acc}

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_shift(self.shift)
        need_clamp(self.low, self.high, *LIMITS[self.dtype])


@dataclass(frozen=True, slots=True)
class Rescale16x15:
    """Requantization by a 16 by 15 bit product: no step needs more than 32 bits.

    ``a = sat16(rshr(acc, pre_shift))``; ``y = min(max(rshr(a * multiplier, shift), low), high)``.

    There is no zero point to add: the accumulator's bias holds it.

    Bounds: ``|acc| + 2**(pre_shift-1) < 2**31``, 0 <= pre_shift <= 16; |multiplier| <= 32767, so
    |a * multiplier| < 2^30; 1 <= shift <= 30.

    Attributes:
        pre_shift: p.
        shift: s.
        low, high: bounds of y, within `dtype`.
        dtype: INT8 or INT16.
    """

    NAME: ClassVar[str] = "16x15"
    """In reports."""
    MULTIPLIERS: ClassVar[DType] = DType.INT16
    """Type of the multipliers of output channels."""
    LARGEST_MULTIPLIER: ClassVar[int] = INT16_MAX

    pre_shift: int
    shift: int
    low: int
    high: int
    dtype: DType = DType.INT8

    def apply(
        self,
        acc: Array,
        multiplier: npt.ArrayLike,
        residual: Array | int = 0,
        more: Array | int = 0,
    ) -> Array:
        """The codes that accumulators become, a residual added before the bounds.

        Args:
            acc: int64, or float64 whole numbers, any shape.
            multiplier: broadcast against `acc`.
            residual: int8 or int16, broadcast against `acc`.
            more: added to the last shift, broadcast against `acc`.

        Returns:
            int64 in [low, high] (which are not codes of `dtype` if they index a table), the shape
            of `acc`.

        Raises:
            InternalError: an intermediate does not fit 32 bits.
        """
        narrow = saturate(rshr32(within32(acc), self.pre_shift), INT16_MIN, INT16_MAX)
        scaled = rshr32(narrow * np.asarray(multiplier, np.int64), self.shift + more)
        return saturate(scaled + np.asarray(residual, np.int64), self.low, self.high)

    def bounds(self, acc: float, multiplier: float) -> dict[str, float]:
        """Bounds of the intermediates from the largest magnitudes of what goes in."""
        return {
            "the accumulator": acc + half_step(self.pre_shift),
            "the rescaled accumulator": -INT16_MIN * multiplier + half_step(self.shift),
        }

    def verify(self, least: int | None = None, greatest: int | None = None) -> None:
        """Check the numbers.

        Args:
            least, greatest: limits of the bounds, if they are not those of `dtype`.

        Raises:
            ValueError: one is out of range.
        """
        need_shift(self.pre_shift, 0, PRE_SHIFT_MAX)
        need_shift(self.shift, 1, LONGEST_SHIFT)
        low, high = LIMITS[self.dtype]
        need_clamp(
            self.low,
            self.high,
            low if least is None else least,
            high if greatest is None else greatest,
        )


@dataclass(frozen=True, slots=True)
class CodeMean:
    """The mean of raw codes, as TensorFlow Lite's average pools compute it.

    ``y = min(max(total / count, low), high)``, rounded to the nearest, halves away from zero.

    Attributes:
        low, high: bounds of y, within `dtype`.
        dtype: INT8 or INT16.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops/pooling.h (AveragePool).
    """

    NAME: ClassVar[str] = "mean of codes"
    """In reports."""

    low: int = INT8_MIN
    high: int = INT8_MAX
    dtype: DType = DType.INT8

    def apply(self, total: Array, count: Array) -> Array:
        """Means in [low, high].

        Args:
            total: sums of codes, int64.
            count: how many codes each is a sum of, at least 1; broadcast against `total`.
        """
        mean = np.sign(total) * ((np.abs(total) + count // 2) // count)
        return saturate(mean, self.low, self.high)

    def verify(self) -> None:
        """Check the bounds.

        Raises:
            ValueError: they are empty, or beyond the type.
        """
        need_clamp(self.low, self.high, *LIMITS[self.dtype])


Monotone31 = Requant31 | TwoRoundings31 | Offset31
"""The forms with a multiplier of 31 bits, whose codes never fall where the accumulator rises (or
never rise, where the multiplier is negative)."""
Requantization = Monotone31 | Rescale16x15 | Once15
"""Every form."""


def codes(output: Requantization, acc: Array, multiplier: npt.ArrayLike) -> Array:
    """`apply` of a form, in the type of its output."""
    return output.apply(acc, multiplier).astype(output.dtype.numpy)
