"""TensorFlow Lite's two roundings, and functions in fixed point."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.base import tflite_arithmetic as fixed_functions
from edgec.base.tflite_arithmetic import (
    high_product,
    quantized_factor,
    round_half_away,
    rshr_away,
    scaled_twice,
    shifted_left,
)

INT32 = st.integers(-(2**31), 2**31 - 1)


def away(number: Fraction) -> int:
    magnitude = math.floor(abs(number) + Fraction(1, 2))
    return -magnitude if number < 0 else magnitude


@given(x=INT32, shift=st.integers(0, 31))
def test_a_right_shift_rounds_halves_away_from_zero(x: int, shift: int):
    assert int(rshr_away(x, shift)) == away(Fraction(x, 2**shift))


@given(a=INT32, b=INT32)
def test_the_high_word_rounds_half_up(a: int, b: int):
    exact = Fraction(a * b, 2**31)
    assert int(high_product(a, b)) == min(math.floor(exact + Fraction(1, 2)), 2**31 - 1)


@given(real=st.floats(-1e6, 1e6).filter(lambda r: abs(r) > 1e-9))
def test_a_factor_has_31_bits(real: float):
    multiplier, shift = quantized_factor(real)
    assert 2**30 <= abs(multiplier) <= 2**31 - 1
    assert math.isclose(multiplier * 2.0 ** (shift - 31), real, rel_tol=2**-30)


@pytest.mark.parametrize(
    ("real", "wanted"),
    [
        (0.0, (0, 0)),
        (0.5, (2**30, 0)),
        (1.0, (2**30, 1)),
        (1 - 2**-40, (2**30, 1)),
        (2.0**-33, (0, 0)),
    ],
)
def test_edges_of_factors(real: float, wanted: tuple[int, int]):
    assert quantized_factor(real) == wanted


@given(x=st.integers(-(2**24), 2**24), real=st.floats(1e-6, 100.0))
def test_twice_is_the_product_and_then_the_shift(x: int, real: float):
    multiplier, shift = quantized_factor(real)
    product = Fraction((x << max(shift, 0)) * multiplier, 2**31)
    first = math.floor(product + Fraction(1, 2))
    assert int(scaled_twice(x, multiplier, shift)) == away(Fraction(first, 2 ** max(-shift, 0)))


def test_halves_away_from_zero():
    assert [round_half_away(x) for x in (-2.5, -0.5, 0.5, 1.5, 2.4)] == [-3, -1, 1, 2, 2]
    assert int(shifted_left(-(2**30), 3)) == -(2**31)


def test_functions_in_fixed_point_are_close_to_the_real_ones():
    real = np.linspace(-7.9, 7.9, 1001)
    x = np.round(real * 2.0**27).astype(np.int64)
    assert np.abs(fixed_functions.logistic(x, 4) / 2**31 - 1 / (1 + np.exp(-real))).max() < 1e-7
    assert np.abs(fixed_functions.tanh(x, 4) / 2**31 - np.tanh(real)).max() < 1e-6
    below = np.minimum(x, 0)
    exact = np.exp(below / 2.0**27)
    assert np.abs(fixed_functions.exp_of_negative(below, 4) / 2**31 - exact).max() < 1e-6


def test_a_reciprocal_is_normalised():
    x = np.array([1 << 19, (1 << 19) + 1, 3 << 20, 255 << 19], np.int64)
    found, places = fixed_functions.reciprocal(x, 12)
    assert np.all(found >= 2**30)
    assert np.allclose(found * 2.0 ** -(31.0 + places), 2.0**19 / x, rtol=1e-7)
