"""Extremes and moments of columns, and products by parts: the same numbers as in one piece."""

import numpy as np
import pytest

from edgec.base import portable_algebra
from edgec.base.portable_algebra import (
    extremes_of_columns,
    quick_product,
    scaled,
    second_moments,
    whole_product,
)


def _moments_in_one_piece(x):
    found = scaled(x, -2, x.shape[-2])
    sums = whole_product(found.whole.swapaxes(-1, -2), found.whole)
    return sums * found.step.swapaxes(-1, -2) * found.step


@pytest.mark.parametrize(
    "shape", [(1, 7), (3, 1), (1000, 3), (2, 1000, 9), (4, 65, 600), (1, 2500, 3)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_are_those_of_numpy(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    for values in (x, np.asfortranarray(x), x[..., ::2], -np.abs(x)):
        low, high = extremes_of_columns(values)
        np.testing.assert_array_equal(low, values.min(axis=-2, keepdims=True))
        np.testing.assert_array_equal(high, values.max(axis=-2, keepdims=True))


def test_extremes_of_columns_with_nan_are_nan():
    x = np.ones((300, 4))
    x[299, 2] = np.nan
    low, high = extremes_of_columns(x)
    assert np.isnan(low[0, 2])
    assert np.isnan(high[0, 2])
    assert np.isfinite(high[0, [0, 1, 3]]).all()


@pytest.mark.parametrize("shape", [(5, 3), (1, 1024, 20), (2, 3000, 9), (1, 1500, 70)])
def test_moments_around_a_mean_are_those_of_what_is_left(shape):
    x = np.random.default_rng(1).normal(3.0, [1e-6, *np.ones(shape[-1] - 1)], size=shape)
    mean = x.mean(axis=-2, keepdims=True)
    np.testing.assert_array_equal(second_moments(x, mean), _moments_in_one_piece(x - mean))
    np.testing.assert_array_equal(second_moments(x), _moments_in_one_piece(x))


@pytest.mark.parametrize(("a", "b"), [((1000, 7), (7, 5)), ((3, 1, 400, 2), (2, 2, 9))])
def test_products_by_parts_are_those_in_one_piece(monkeypatch, a, b):
    rng = np.random.default_rng(2)
    left, right = rng.normal(size=a) * np.exp(rng.normal(size=a)), rng.normal(size=b)
    whole = quick_product(left, right)
    monkeypatch.setattr(portable_algebra, "_LEAST_ROWS", 3)
    monkeypatch.setattr(portable_algebra, "_PART", 50)
    found = quick_product(left, right)
    assert found.shape == whole.shape
    np.testing.assert_array_equal(found, whole)
