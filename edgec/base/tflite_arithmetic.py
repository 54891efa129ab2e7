"""Arithmetic of TensorFlow Lite's integer kernels.

The two roundings with which TensorFlow Lite's kernels scale a number.

A real factor is ``multiplier * 2**(shift - 31)`` with a multiplier in [2^30, 2^31); a number times
that factor is rounded half up to the high word of a product, and the rest of the shift rounds
halves away from zero.  `edgec.base.fixedpoint` rounds once and is edgec's own arithmetic; this is
for what must equal TensorFlow Lite Micro to the last bit.

Source: gemmlowp, fixedpoint/fixedpoint.h (SaturatingRoundingDoublingHighMul,
RoundingDivideByPOT), and TensorFlow Lite, kernels/internal/quantization_util.cc and common.cc.

Exponential, logistic function, tanh, reciprocal and root in TensorFlow Lite's fixed point.

A number in Qm.n is an int32 whose unit is 2^-n; m + n = 31.  Every product is rounded to its high
word; all functions take and give int64 arrays of int32 numbers and are exact to the last bit of
the reference kernels.

Source: gemmlowp, fixedpoint/fixedpoint.h (exp_on_negative_values, logistic, tanh,
one_over_one_plus_x_for_x_in_0_1); TensorFlow Lite, kernels/internal/common.h (GetReciprocal,
GetInvSqrtQuantizedMultiplierExp).

The end of TensorFlow Lite's layers with 16-bit activations: one rounding of a 64-bit product.

A factor of `edgec.base.tflite_arithmetic` is reduced to a multiplier of 15 bits; a sum of up to 48
bits times that multiplier is shifted to the right and rounded half up.

Source: TensorFlow Lite, kernels/internal/common.cc (MultiplyByQuantizedMultiplier of int64).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX, INT32_MIN, rshr, saturate

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


ONE = INT32_MAX
"""The largest number of Q0.31, which stands for 1."""
_EXP_EIGHTH = 1895147668
"""exp(-1/8) in Q0.31."""
_THIRD = 715827883
"""1/3 in Q0.31."""
_EXP_POWERS = (
    (-2, 1672461947),
    (-1, 1302514674),
    (0, 790015084),
    (1, 290630308),
    (2, 39332535),
    (3, 720401),
    (4, 242),
)
"""exp(-2^k) in Q0.31 by k."""
_48_17, _32_17 = 1515870810, -1010580540
"""48/17 and -32/17 in Q2.29: the line that Newton's division starts from."""
_NEWTON_STEPS = 3
_THREE_HALVES = 3 << 27
"""3/2 in Q3.28."""
_HALF_ROOT_2 = 1518500250
"""sqrt(2)/2 in Q0.31."""
_ROOT_STEPS = 5


def exp_of_negative(x: Array, integer_bits: int) -> Array:
    """``exp(x)`` in Q0.31 of x <= 0 in Q`integer_bits`."""
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    within = (x & (quarter - 1)) - quarter
    result = _exp_of_quarter(shifted_left(within, integer_bits))
    rest = within - x
    for power, factor in _EXP_POWERS:
        if power < integer_bits:
            taken = (rest >> (fraction_bits + power)) & 1
            result = np.where(taken == 1, high_product(result, factor), result)
    return np.asarray(np.where(x == 0, ONE, result))


def _exp_of_quarter(x: Array) -> Array:
    """``exp(x)`` of x in [-1/4, 0), in Q0.31: a series around -1/8."""
    x = x + (1 << 28)
    square = high_product(x, x)
    cube, fourth = high_product(square, x), high_product(square, square)
    series = high_product(rshr_away(fourth, 2) + cube, _THIRD) + square
    return _EXP_EIGHTH + high_product(_EXP_EIGHTH, x + rshr_away(series, 1))


def _newton(x: Array) -> tuple[Array, Array]:
    """``2 / (1 + x)`` in Q2.29 of x in [0, 1) in Q0.31."""
    total = x + ONE
    half_denominator = (total + 1) >> 1
    guess = _48_17 + high_product(half_denominator, _32_17)
    for _ in range(_NEWTON_STEPS):
        error = (1 << 29) - high_product(half_denominator, guess)
        guess = guess + shifted_left(high_product(guess, error), 2)
    return guess, half_denominator


def reciprocal_of_one_plus(x: Array) -> Array:
    """``1 / (1 + x)`` in Q0.31 of x in [0, 1) in Q0.31."""
    return shifted_left(_newton(x)[0], 1)


def logistic(x: Array, integer_bits: int) -> Array:
    """``1 / (1 + exp(-x))`` in Q0.31."""
    positive = reciprocal_of_one_plus(exp_of_negative(-np.abs(x), integer_bits))
    return np.asarray(np.where(x == 0, 1 << 30, np.where(x > 0, positive, ONE - positive)))


def tanh(x: Array, integer_bits: int) -> Array:
    """``tanh(x)`` in Q0.31."""
    twice = exp_of_negative(-np.abs(x), integer_bits + 1)
    magnitude = shifted_left(_newton(twice)[0] - (1 << 29), 2)
    return np.asarray(np.sign(x) * magnitude)


def reciprocal(x: Array, integer_bits: int) -> tuple[Array, Array]:
    """``1 / x`` of x > 0 in Q`integer_bits`, as ``r * 2**-(31 + places)``.

    Returns:
        r in Q0.31, from 1/2 on, and the places.
    """
    headroom = 32 - np.asarray(np.frexp(x.astype(np.float64))[1], np.int64)
    minus_one = ((x << headroom) & 0xFFFFFFFF) - (1 << 31)
    return reciprocal_of_one_plus(minus_one), integer_bits - headroom


def inverse_root(x: Array) -> tuple[Array, Array]:
    """``1 / sqrt(x)`` of integers in [1, 2^29), as ``r * 2**-(31 + places)``.

    Returns:
        r in Q0.31, and the places.
    """
    length = np.asarray(np.frexp(x.astype(np.float64))[1], np.int64)
    pairs = (31 - length) // 2 - 1
    scaled = (x << (2 * pairs)) >> 1
    half, guess = rshr_away(scaled, 1), np.full_like(x, 1 << 28)
    for _ in range(_ROOT_STEPS):
        cube = shifted_left(high_product(high_product(guess, guess), guess), 6)
        error = high_product(_THREE_HALVES, guess) - high_product(half, cube)
        guess = shifted_left(error, 3)
    found = high_product(guess, _HALF_ROOT_2)
    return np.where(x == 1, ONE, found), np.where(x == 1, 0, 11 - pairs)


LEAST_SHIFT, MOST_SHIFT = 8, 46
"""Right shifts of factors from 2^-31 to 2^7."""
_HALF = 1 << 15


def reduced_factor(multiplier: int, shift: int) -> tuple[int, int]:
    """Multiplier of 15 bits and right shift of a factor of
    `edgec.base.tflite_arithmetic.quantized_factor`.
    """
    return min((multiplier + _HALF) >> 16, INT16_MAX), 15 - shift


def scaled_once(sums: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """``rshr(sums * multiplier, shift)``, broadcast; int64.

    Args:
        sums: int64, at most 48 bits.
        multiplier: 0..32767.
        shift: 8..46.
    """
    product = np.asarray(sums, np.int64) * np.asarray(multiplier, np.int64)
    bits = np.asarray(shift, np.int64)
    return np.asarray((product + (np.int64(1) << (bits - 1))) >> bits)
