"""fixedpoint.py against rational arithmetic: every rounding is exact, once, half up."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import (
    INT32_MAX,
    INT32_MIN,
    SHIFT_MAX,
    SHIFT_MIN,
    Requant,
    quantize_array,
    requantize,
    round_half_up,
    rshr,
    saturate,
)

int32 = st.one_of(
    st.sampled_from([INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX]),
    st.integers(INT32_MIN, INT32_MAX),
)
shifts = st.one_of(st.sampled_from([1, 31, 32, 33, 62]), st.integers(SHIFT_MIN, SHIFT_MAX))


def half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


@given(x=int32, shift=st.integers(0, 31))
def test_rshr_is_the_nearest_integer_half_up(x: int, shift: int):
    assert int(rshr(x, shift)) == half_up(Fraction(x, 2**shift))


@given(acc=int32, multiplier=st.integers(-INT32_MAX, INT32_MAX), shift=shifts)
def test_requantize_rounds_the_exact_product_once(acc: int, multiplier: int, shift: int):
    assert int(requantize(acc, multiplier, shift)) == half_up(Fraction(acc * multiplier, 2**shift))


@given(x=st.integers(-(2**40), 2**40), low=st.integers(-128, 127), high=st.integers(-128, 127))
def test_saturate_is_a_clamp(x: int, low: int, high: int):
    low, high = min(low, high), max(low, high)
    assert int(saturate(x, low, high)) == min(max(x, low), high)


@given(
    factors=st.lists(st.floats(1e-9, 2.0**29), min_size=1, max_size=5),
    acc_bound=st.integers(1, INT32_MAX),
    data=st.data(),
)
def test_requant_keeps_its_promised_error(
    factors: list[float], acc_bound: int, data: st.DataObject
):
    requant = Requant.from_real(factors, acc_bound)
    assert SHIFT_MIN <= requant.shift <= SHIFT_MAX
    assert not requant.multiplier.flags.writeable
    assert np.abs(requant.multiplier.astype(np.int64)).max() <= INT32_MAX
    acc = data.draw(st.integers(-acc_bound, acc_bound))
    for factor, found in zip(factors, requant.apply(np.full(len(factors), acc)), strict=True):
        error = abs(int(found) - Fraction(acc) * Fraction(factor))
        assert error <= Fraction(acc_bound, 2 ** (requant.shift + 1)) + Fraction(1, 2)


def test_a_shift_of_32_is_preferred_where_it_loses_nothing():
    assert Requant.from_real([0.001, 0.3], 2**20).shift == 32
    assert Requant.from_real([0.001], 2**30).shift == 38
    assert Requant.from_real([2.0**20], 2**20).shift < 32


def test_zero_factors_are_representable():
    assert np.array_equal(Requant.from_real([0.0, 0.0], 100).apply([5, -5]), [0, 0])


@pytest.mark.parametrize("factor", [math.nan, math.inf, -math.inf, 2.0**30, 1e300])
def test_impossible_factors_are_refused(factor: float):
    with pytest.raises(QuantizationError):
        Requant.from_real([0.5, factor], 1000)


@given(st.integers(-(2**50), 2**50))
def test_round_half_up_of_reals(numerator: int):
    assert int(round_half_up(numerator / 2**20)) == half_up(Fraction(numerator, 2**20))


@given(q=st.integers(-128, 127), scale=st.floats(1e-6, 1e6), zero_point=st.integers(-128, 127))
def test_quantizing_a_dequantized_code_gives_it_back(q: int, scale: float, zero_point: int):
    real = np.array([(q - zero_point) * scale], np.float32)
    assert quantize_array(real, scale, zero_point)[0] == q


def test_quantizing_saturates():
    assert quantize_array([1e30, -1e30, 0.0], 0.1, 5).tolist() == [127, -128, 5]
