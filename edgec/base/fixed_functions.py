"""Exponential, logistic function, tanh, reciprocal and root in TensorFlow Lite's fixed point.

A number in Qm.n is an int32 whose unit is 2^-n; m + n = 31.  Every product is rounded to its high
word; all functions take and give int64 arrays of int32 numbers and are exact to the last bit of
the reference kernels.

Source: gemmlowp, fixedpoint/fixedpoint.h (exp_on_negative_values, logistic, tanh,
one_over_one_plus_x_for_x_in_0_1); TensorFlow Lite, kernels/internal/common.h (GetReciprocal,
GetInvSqrtQuantizedMultiplierExp).
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT32_MAX
from edgec.base.twice import high_product, rshr_away, shifted_left

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
