"""Elementary functions of `base.portable_functions`, beside those of the C library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgec.base import portable_functions as exact

NEAR = np.linspace(-1e-3, 1e-3, 101)
WIDE = np.linspace(-40.0, 40.0, 9001)
CASES = {
    "exp": (math.exp, np.concatenate([WIDE * 17, NEAR])),
    "expm1": (math.expm1, np.concatenate([WIDE, NEAR])),
    "log": (math.log, np.concatenate([2.0**WIDE, 1.0 + NEAR])),
    "log1p": (math.log1p, np.concatenate([np.linspace(-0.9, 30.0, 5001), NEAR])),
    "tanh": (math.tanh, np.concatenate([WIDE, WIDE / 40, NEAR])),
    "sigmoid": (lambda x: 1.0 / (1.0 + math.exp(-x)), WIDE),
    "softplus": (lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))), WIDE),
    "erf": (math.erf, np.concatenate([WIDE, WIDE / 8, NEAR])),
    "tan": (math.tan, np.concatenate([WIDE, NEAR])),
    "sinh": (math.sinh, np.concatenate([WIDE, NEAR])),
    "cosh": (math.cosh, np.concatenate([WIDE, NEAR])),
    "asin": (math.asin, np.concatenate([WIDE / 40, NEAR])),
    "acos": (math.acos, np.concatenate([WIDE / 40, NEAR])),
    "atan": (math.atan, np.concatenate([WIDE, WIDE / 40, NEAR])),
    "asinh": (math.asinh, np.concatenate([WIDE, NEAR])),
    "acosh": (math.acosh, np.concatenate([41.0 + WIDE, 1.0 + np.abs(NEAR)])),
    "atanh": (math.atanh, np.concatenate([WIDE / 41, NEAR])),
}


@pytest.mark.parametrize("name", CASES)
def test_a_few_units_in_the_last_place(name):
    reference, x = CASES[name]
    wanted = np.array([reference(value) for value in x])
    np.testing.assert_allclose(getattr(exact, name)(x), wanted, rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5, -0.5, 0.25, 7.3])
def test_powers(exponent):
    x = np.linspace(0.1, 30.0, 500)
    np.testing.assert_allclose(exact.power(x, exponent), x**exponent, rtol=2e-14)


def test_powers_of_negative_numbers():
    x = np.array([-2.0, 0.0, 2.0])
    assert exact.power(x, 3.0).tolist() == [-8.0, 0.0, 8.0]
    assert np.isnan(exact.power(x, 0.5)[0])
    assert np.isnan(exact.power(x, 0.3)[0])


def test_ends():
    x = np.array([0.0, np.inf, -np.inf, np.nan])
    with np.errstate(invalid="ignore", over="ignore"):
        np.testing.assert_array_equal(exact.exp(x), [1.0, np.inf, 0.0, np.nan])
        np.testing.assert_array_equal(exact.expm1(x), [0.0, np.inf, -1.0, np.nan])
        np.testing.assert_array_equal(exact.log(x), [-np.inf, np.inf, np.nan, np.nan])
        np.testing.assert_array_equal(exact.tanh(x), [0.0, 1.0, -1.0, np.nan])
        np.testing.assert_array_equal(exact.erf(x), [0.0, 1.0, -1.0, np.nan])
        np.testing.assert_array_equal(exact.atan(x), [0.0, math.pi / 2, -math.pi / 2, np.nan])
    edges = np.array([-1.5, -1.0, 1.0, 1.5])
    np.testing.assert_array_equal(exact.atanh(edges), [np.nan, -np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(exact.acos(edges), [np.nan, math.pi, 0.0, np.nan])
    np.testing.assert_array_equal(np.isnan(exact.asin(edges)), [True, False, False, True])
    np.testing.assert_array_equal(np.isnan(exact.acosh(edges)), [True, True, False, False])


def test_the_size_of_an_array_changes_no_bit():
    x = np.random.default_rng(0).normal(size=(3, 10_000))
    whole = exact.erf(x)
    for column in (0, 4097, 9999):
        np.testing.assert_array_equal(exact.erf(x[:, column]), whole[:, column])
