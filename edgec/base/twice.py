"""The two roundings with which TensorFlow Lite's kernels scale a number.

A real factor is ``multiplier * 2**(shift - 31)`` with a multiplier in [2^30, 2^31); a number times
that factor is rounded half up to the high word of a product, and the rest of the shift rounds
halves away from zero.  `edgec.base.fixedpoint` rounds once and is edgec's own arithmetic; this is
for what must equal TensorFlow Lite Micro to the last bit.

Source: gemmlowp, fixedpoint/fixedpoint.h (SaturatingRoundingDoublingHighMul,
RoundingDivideByPOT), and TensorFlow Lite, kernels/internal/quantization_util.cc and common.cc.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN, rshr, saturate

_LEAST_SHIFT = -31
"""A factor below 2^-31 or so makes every product 0."""


def quantized_factor(real: float) -> tuple[int, int]:
    """Multiplier and shift of a real factor: ``real ~= multiplier * 2**(shift - 31)``.

    Args:
        real: finite.

    Returns:
        The multiplier, 0 or with a magnitude in [2^30, 2^31), and the shift: left if positive.
    """
    fraction, shift = math.frexp(real)
    multiplier = round_half_away(fraction * 2.0**31)
    if abs(multiplier) == 2**31:
        multiplier, shift = multiplier // 2, shift + 1
    return (0, 0) if shift < _LEAST_SHIFT or multiplier == 0 else (multiplier, shift)


def round_half_away(real: float) -> int:
    """Nearest integer of a finite number, halves away from zero."""
    return int(math.copysign(math.floor(abs(real) + 0.5), real))


def high_product(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """``rshr(a * b, 31)`` of int32 numbers, saturated to int32 (it matters for -2^31 alone)."""
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    return np.asarray(np.minimum(rshr(product, 31), INT32_MAX))


def rshr_away(x: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """Right shift by `shift` >= 0 bits, rounded to the nearest, halves away from zero; int64."""
    value, bits = np.asarray(x, np.int64), np.asarray(shift, np.int64)
    half = np.where(bits > 0, (np.int64(1) << bits) >> 1, 0)
    return np.asarray((value + half - ((value < 0) & (bits > 0))) >> bits)


def shifted_left(x: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """``x << shift``, saturated to int32; int64."""
    return saturate(np.asarray(x, np.int64) << np.asarray(shift, np.int64), INT32_MIN, INT32_MAX)


def scaled_twice(x: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """X times a factor of `quantized_factor`, rounded twice.

    Args:
        x: int32, any shape; x times the left part of the shift must fit int32.
        multiplier, shift: broadcast against `x`.

    Returns:
        int64, not yet saturated.
    """
    bits = np.asarray(shift, np.int64)
    high = high_product(np.asarray(x, np.int64) << np.maximum(bits, 0), multiplier)
    return rshr_away(high, np.maximum(-bits, 0))
