"""Products whose bits do not depend on the order of summation."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.portable_algebra import product, quick_product, scaled

SHAPES = [(5, 3, 4), (7, 27, 16), (3, 576, 5), (4, 1024, 4), (2, 3000, 3), (1, 1, 1)]


def operands(shape, seed=0):
    m, k, n = shape
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(m, k)) * np.exp(rng.normal(size=(m, 1)) * 20)
    return a, rng.normal(size=(k, n)) * np.exp(rng.normal(size=(1, n)) * 20)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("function", "accuracy"), [(quick_product, 4e-7), (product, 1e-12)])
def test_close_to_the_real_product(shape, function, accuracy):
    a, b = operands(shape)
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    sizes = np.abs(a) @ np.abs(b)
    assert np.max(np.abs(function(a, b) - exact) / sizes) < accuracy


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", [quick_product, product])
def test_the_order_of_the_terms_changes_no_bit(shape, function):
    """Up to 1024 terms; longer sums are made of parts, each of which has this property."""
    a, b = operands(shape)
    if a.shape[1] > 1024:
        a, b = a[:, :1024], b[:1024]
    order = np.random.default_rng(1).permutation(a.shape[1])
    np.testing.assert_array_equal(function(a, b), function(a[:, order], b[order]))


@pytest.mark.parametrize("function", [quick_product, product])
def test_rows_do_not_depend_on_one_another(function):
    a, b = operands((9, 200, 6))
    together = function(a, b)
    for row in range(9):
        np.testing.assert_array_equal(function(a[row : row + 1], b), together[row : row + 1])


def test_partial_sums_are_exact():
    """The largest sum that can occur: every whole number at its bound."""
    for terms in (2, 27, 500, 1024):
        left = scaled(np.ones((1, terms)), -1, terms).whole
        assert left.max() ** 2 * terms <= 2.0**53


def test_stacks_zeros_and_extremes():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(3, 5, 2))
    np.testing.assert_allclose(quick_product(a, b), a @ b, atol=1e-5)
    assert not quick_product(np.zeros((2, 3)), np.ones((3, 2))).any()
    tiny = quick_product(np.full((1, 2), 1e-300), np.full((2, 1), 1e250))
    assert tiny[0, 0] == pytest.approx(2e-50, rel=1e-6)


def test_numbers_that_are_not_finite_are_not_hidden():
    a = np.array([[np.nan, 1.0], [1.0, 2.0]])
    with np.errstate(invalid="ignore"):
        found = quick_product(a, np.ones((2, 2)))
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [3.0, 3.0]
