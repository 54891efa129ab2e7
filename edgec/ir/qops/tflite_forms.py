"""Forms of requantization whose codes are those of TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, saturate
from edgec.base.tflite_arithmetic import LEAST_SHIFT, MOST_SHIFT, scaled_once, scaled_twice
from edgec.ir.qops.arithmetic import accumulators, within32
from edgec.ir.qops.base import LIMITS, need_clamp, need_shift
from edgec.ir.shapes import need

_HIGH_BITS = 32
"""Bits of a product that `Offset31` drops before its own shift."""


@dataclass(frozen=True, slots=True)
class TwoRoundings31:
    """TensorFlow Lite's two roundings of a product of 32 by 31 bits.

    ``y = min(max(zero_point + scaled_twice(acc, multiplier, shift), low), high)``
    (`edgec.base.tflite_arithmetic`): a rounding half up after the product, one half away from zero
    after the shift.  y never falls where acc rises.

    Bounds: 0 <= multiplier < 2^31; -31 <= shift <= 30; ``acc << shift`` fits int32.

    Attributes:
        shifts: TensorFlow Lite's shifts, to the left if positive; one for each output channel, or
            one for all.
        zero_point: added after the rounding.
        low, high: bounds of y, within `dtype`.
        dtype: INT8 or INT16.
    """

    NAME: ClassVar[str] = "31 bits twice"
    """In reports."""
    MULTIPLIERS: ClassVar[DType] = DType.INT32
    """Type of the multipliers of output channels."""
    LARGEST_MULTIPLIER: ClassVar[int] = INT32_MAX

    shifts: tuple[int, ...]
    zero_point: int = 0
    low: int = INT8_MIN
    high: int = INT8_MAX
    dtype: DType = field(default=DType.INT8, metadata=LATER)

    @property
    def left(self) -> Array:
        """Left shifts of the accumulators: int64 [O] or [1]."""
        return np.maximum(np.asarray(self.shifts, np.int64), 0)

    @property
    def right(self) -> Array:
        """Right shifts of the products: int64 [O] or [1]."""
        return np.maximum(-np.asarray(self.shifts, np.int64), 0)

    def kept(self, channels: Array) -> Self:
        """The form of the channels with these numbers: int [any]."""
        return replace(self, shifts=kept_numbers(self.shifts, channels))

    def scaled(self, acc: npt.ArrayLike, multiplier: npt.ArrayLike) -> Array:
        """The codes before the bounds: int64; channels are the last axis."""
        shifts = np.asarray(self.shifts, np.int64)
        return self.zero_point + scaled_twice(acc, multiplier, shifts)

    def apply(self, acc: Array, multiplier: npt.ArrayLike) -> Array:
        """The codes that accumulators become.

        Args:
            acc: int64, or float64 whole numbers, any shape; channels are the last axis.
            multiplier: broadcast against `acc`.

        Returns:
            int64 in [low, high].

        Raises:
            InternalError: a shifted accumulator does not fit 32 bits.
        """
        sums = accumulators(acc)
        within32(sums << self.left)
        return saturate(self.scaled(sums, multiplier), self.low, self.high)

    def bounds(self, acc: float, multiplier: float) -> dict[str, float]:
        """Bounds of the intermediates from the largest magnitudes of what goes in."""
        return {"the accumulator": acc}

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        for shift in self.shifts:
            need_shift(shift, -31, 30)
        need_clamp(self.low, self.high, *LIMITS[self.dtype])


@dataclass(frozen=True, slots=True)
class Offset31:
    """A product of 32 by 31 bits with an offset for each output channel, rounded down.

    ``y = min(max(((acc * multiplier + 2^31 + offset * 2^32) >> 32) >> shift, low), high)``; the
    zero point is in the offset.

    Layers get this form where it has been proved to give the codes of `TwoRoundings31`
    (`edgec.passes.single_rounding`), for it is cheaper.

    Bounds: |multiplier| < 2^31; |offset| < 2^29; 0 <= shift <= 30.

    Attributes:
        shift: right shift of the high words of products.
        offsets: what is added to the high words of products; one for each output channel.
        low, high: bounds of y, int8 codes.
    """

    NAME: ClassVar[str] = "31 bits, offset"
    """In reports."""
    MULTIPLIERS: ClassVar[DType] = DType.INT32
    """Type of the multipliers of output channels."""
    LARGEST_MULTIPLIER: ClassVar[int] = INT32_MAX
    LARGEST_OFFSET: ClassVar[int] = (1 << 29) - 1

    shift: int
    offsets: tuple[int, ...]
    low: int = INT8_MIN
    high: int = INT8_MAX

    @property
    def dtype(self) -> DType:
        """Type of the output."""
        return DType.INT8

    def kept(self, channels: Array) -> Self:
        """The form of the channels with these numbers: int [any]."""
        return replace(self, offsets=kept_numbers(self.offsets, channels))

    def scaled(self, acc: npt.ArrayLike, multiplier: npt.ArrayLike) -> Array:
        """The codes before the bounds: int64; channels are the last axis."""
        product = np.asarray(acc, np.int64) * np.asarray(multiplier, np.int64)
        rounded = (product + (1 << (_HIGH_BITS - 1))) >> _HIGH_BITS
        return np.asarray((rounded + np.asarray(self.offsets, np.int64)) >> self.shift)

    def apply(self, acc: Array, multiplier: npt.ArrayLike) -> Array:
        """As `TwoRoundings31.apply`."""
        return saturate(self.scaled(accumulators(acc), multiplier), self.low, self.high)

    def bounds(self, acc: float, multiplier: float) -> dict[str, float]:
        """Bounds of the intermediates from the largest magnitudes of what goes in."""
        high = acc * multiplier / 2.0**_HIGH_BITS
        return {"the accumulator": acc, "the high word": high + self.LARGEST_OFFSET + 1}

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_shift(self.shift, 0, 30)
        need(max(map(abs, self.offsets)) <= self.LARGEST_OFFSET, "an offset is too large")
        need_clamp(self.low, self.high)


def kept_numbers(numbers: tuple[int, ...], channels: Array) -> tuple[int, ...]:
    """The entries of some channels: int [any]; one for all stays."""
    return numbers if len(numbers) == 1 else tuple(numbers[channel] for channel in channels)


@dataclass(frozen=True, slots=True)
class Once15:
    """One rounding of a sum of up to 48 bits times a multiplier of 15 bits.

    ``y = min(max(scaled_once(acc, multiplier, shift), low), high)``
    (`edgec.base.tflite_arithmetic`).

    Bounds: |acc| < 2^48; 0 <= multiplier < 2^15; 8 <= shift <= 46.

    Attributes:
        shifts: right shifts, one for each output channel, or one for all.
        low, high: bounds of y, int16 codes.
    """

    NAME: ClassVar[str] = "15 bits of 64"
    """In reports."""
    MULTIPLIERS: ClassVar[DType] = DType.INT16
    """Type of the multipliers of output channels."""
    LARGEST_MULTIPLIER: ClassVar[int] = INT16_MAX

    shifts: tuple[int, ...]
    low: int = INT16_MIN
    high: int = INT16_MAX

    @property
    def dtype(self) -> DType:
        """Type of the output."""
        return DType.INT16

    def kept(self, channels: Array) -> Self:
        """The form of the channels with these numbers: int [any]."""
        return replace(self, shifts=kept_numbers(self.shifts, channels))

    def apply(self, acc: Array, multiplier: npt.ArrayLike) -> Array:
        """The codes that accumulators become.

        Args:
            acc: int64, or float64 whole numbers, any shape; channels are the last axis.
            multiplier: broadcast against `acc`.

        Returns:
            int64 in [low, high].
        """
        scaled = scaled_once(acc.astype(np.int64), multiplier, self.shifts)
        return saturate(scaled, self.low, self.high)

    def bounds(self, acc: float, multiplier: float) -> dict[str, float]:
        """There is none within 32 bits."""
        return {}

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        for shift in self.shifts:
            need_shift(shift, LEAST_SHIFT, MOST_SHIFT)
        need_clamp(self.low, self.high, INT16_MIN, INT16_MAX)
